//go:build !unix

package toolkit

import (
	"io/fs"
	"os"
)

const openNonblock = 0

func isNotDir(error) bool { return false }

func keepOwner(*os.File, fs.FileInfo) {}
