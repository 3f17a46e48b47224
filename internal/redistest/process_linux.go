package redistest

import "syscall"

// diesWithParent makes the kernel kill a server whose test binary was killed.
func diesWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
