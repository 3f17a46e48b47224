// Package compatredjet runs compat/redjet side by side with redjet v0.5.0 itself: its tests compare results, its benchmark
// time and memory.
package compatredjet
