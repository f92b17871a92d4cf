package harness

import (
	"context"
	"io"
	"log"
	"log/slog"

	"github.com/hashicorp/go-hclog"
)

// quietLog gives what go-plugin says to slog, all of it at debug level: what
// matters of it comes back as an error.
type quietLog struct {
	log  *slog.Logger
	name string
	args []any
}

func newQuietLog(l *slog.Logger) hclog.Logger { return quietLog{log: l} }

func (q quietLog) Log(level hclog.Level, msg string, args ...any) {
	if !q.IsDebug() {
		return
	}
	q.log.Debug("go-plugin: "+msg, append([]any{"level", level.String()}, args...)...)
}

func (q quietLog) Trace(msg string, args ...any) {} // says the same as Debug, at more length
func (q quietLog) Debug(msg string, args ...any) { q.Log(hclog.Debug, msg, args...) }
func (q quietLog) Info(msg string, args ...any)  {} // says that a process ended when only its start has
func (q quietLog) Warn(msg string, args ...any)  { q.Log(hclog.Warn, msg, args...) }
func (q quietLog) Error(msg string, args ...any) { q.Log(hclog.Error, msg, args...) }

func (q quietLog) IsTrace() bool { return false }
func (q quietLog) IsDebug() bool { return q.log.Enabled(context.Background(), slog.LevelDebug) }
func (q quietLog) IsInfo() bool  { return false }
func (q quietLog) IsWarn() bool  { return q.IsDebug() }
func (q quietLog) IsError() bool { return q.IsDebug() }

func (q quietLog) ImpliedArgs() []any { return q.args }

func (q quietLog) With(args ...any) hclog.Logger {
	return quietLog{q.log.With(args...), q.name, append(q.args[:len(q.args):len(q.args)], args...)}
}

func (q quietLog) Name() string { return q.name }

func (q quietLog) Named(name string) hclog.Logger {
	if q.name != "" {
		name = q.name + "." + name
	}
	return q.ResetNamed(name)
}

func (q quietLog) ResetNamed(name string) hclog.Logger {
	return quietLog{q.log, name, q.args}
}

func (q quietLog) SetLevel(hclog.Level) {}

func (q quietLog) GetLevel() hclog.Level {
	if q.IsDebug() {
		return hclog.Debug
	}
	return hclog.Off
}

func (q quietLog) StandardLogger(o *hclog.StandardLoggerOptions) *log.Logger {
	return log.New(q.StandardWriter(o), "", 0)
}

func (q quietLog) StandardWriter(*hclog.StandardLoggerOptions) io.Writer {
	return slogWriter{q}
}

type slogWriter struct{ log quietLog }

func (w slogWriter) Write(p []byte) (int, error) {
	w.log.Debug(string(p))
	return len(p), nil
}
