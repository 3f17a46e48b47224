package main

import (
	"io"
	"time"

	"github.com/schollz/progressbar/v3"
)

// newBar returns a progress bar that vanishes at the end. Without a terminal, w is nil and the bar draws nothing.
func newBar(w io.Writer, what string, total int64, bytes bool) *progressbar.ProgressBar {
	visible := w != nil
	if !visible {
		w = io.Discard
	}
	return progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(w),
		progressbar.OptionSetVisibility(visible),
		progressbar.OptionSetDescription("filling "+what),
		progressbar.OptionSetWidth(30),
		progressbar.OptionShowBytes(bytes),
		progressbar.OptionUseIECUnits(bytes),
		progressbar.OptionShowCount(),
		progressbar.OptionSetPredictTime(false),
		progressbar.OptionThrottle(50*time.Millisecond),
		progressbar.OptionClearOnFinish(),
	)
}
