package shadow

import "golang.org/x/sys/unix"

// isPseudo reports whether a folder shows the kernel, not files.
func isPseudo(fd int) bool {
	var s unix.Statfs_t
	if retry(func() error { return unix.Fstatfs(fd, &s) }) != nil {
		return true
	}
	switch s.Type {
	case unix.PROC_SUPER_MAGIC, unix.SYSFS_MAGIC, unix.CGROUP_SUPER_MAGIC, unix.CGROUP2_SUPER_MAGIC, unix.DEVPTS_SUPER_MAGIC,
		unix.DEBUGFS_MAGIC, unix.TRACEFS_MAGIC, unix.SECURITYFS_MAGIC, unix.BPF_FS_MAGIC, unix.SELINUX_MAGIC,
		unix.PSTOREFS_MAGIC, unix.EFIVARFS_MAGIC, unix.BINFMTFS_MAGIC, unix.AUTOFS_SUPER_MAGIC, unix.NSFS_MAGIC:
		return true
	}
	return false
}
