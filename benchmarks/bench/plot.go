package main

import (
	"fmt"
	imagecolor "image/color"
	"math"
	"path/filepath"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
)

// plotting draws the plots of a part.
type plotting struct {
	dir, part string
}

// save writes a plot as SVG and as PNG.
func (p *plotting) save(pl *plot.Plot, name string, width, height font.Length) error {
	for _, ext := range []string{".svg", ".png"} {
		if err := pl.Save(width, height, filepath.Join(p.dir, p.part+"-"+name+ext)); err != nil {
			return fmt.Errorf("plot %s: %w", name, err)
		}
	}
	return nil
}

// lines draws, for each implementation, y(result) against the number x of the benchmark's name, on logarithmic axes.
func (p *plotting) lines(name, title, x, xTitle, unit, yTitle string, results []result) error {
	pl := newPlot(title)
	pl.X.Label.Text, pl.Y.Label.Text = xTitle, yTitle
	pl.X.Scale, pl.Y.Scale = plot.LogScale{}, plot.LogScale{}
	pl.X.Tick.Marker, pl.Y.Tick.Marker = plot.LogTicks{Prec: -1}, plot.LogTicks{Prec: 3}
	pl.Add(plotter.NewGrid())
	pl.Legend.Top, pl.Legend.Left = true, true
	drawn := 0
	for i, impl := range inOrder(results, func(r result) string { return r.impl }) {
		var points plotter.XYs
		for _, r := range results {
			at, ok := r.number(x)
			v, okay := r.median(unit)
			if r.impl == impl && ok && okay && v > 0 && at > 0 {
				points = append(points, plotter.XY{X: at, Y: v})
			}
		}
		if len(points) == 0 {
			continue
		}
		line, dots, err := plotter.NewLinePoints(points)
		if err != nil {
			return err
		}
		line.Color, line.Dashes, line.Width = color(i), plotutil.Dashes(i/len(plotutil.DefaultColors)), vg.Points(1.5)
		if strings.HasPrefix(impl, "rueidisx") || impl == "pages" || impl == "snapshot" {
			line.Width = vg.Points(3)
		}
		dots.Color, dots.Shape = color(i), plotutil.Shape(i)
		pl.Add(line, dots)
		pl.Legend.Add(impl, line, dots)
		drawn++
	}
	if drawn == 0 {
		return nil
	}
	pl.Y.Max *= 8 // room for the legend
	pl.X.Max *= 1.5
	return p.save(pl, name, 9*vg.Inch, 6*vg.Inch)
}

// bars draws, for each benchmark, a bar for each implementation: its value relative to that of the implementation base.
func (p *plotting) bars(name, title, base, unit string, results []result) error {
	pl := newPlot(title)
	pl.Y.Label.Text = "times that of " + base
	pl.Legend.Top = true
	impls := inOrder(results, func(r result) string { return r.impl })
	benches := inOrder(results, func(r result) string { return r.bench })
	width := vg.Points(math.Max(2, 540/float64(len(benches)*(len(impls)+1))))
	drawn := 0
	for i, impl := range impls {
		values := make(plotter.Values, len(benches))
		for j, bench := range benches {
			v, ok := find(results, bench, impl, unit)
			b, okay := find(results, bench, base, unit)
			if ok && okay && b > 0 {
				values[j] = math.Min(v/b, 4)
				drawn++
			}
		}
		chart, err := plotter.NewBarChart(values, width)
		if err != nil {
			return err
		}
		chart.Color, chart.LineStyle.Width = color(i), 0
		chart.Offset = width * vg.Length(float64(i)-float64(len(impls)-1)/2)
		pl.Add(chart)
		pl.Legend.Add(impl, chart)
	}
	if drawn == 0 {
		return nil
	}
	pl.X.Padding = 0
	short := make([]string, len(benches))
	for i, bench := range benches {
		short[i] = strings.ReplaceAll(bench, "/", "\n")
	}
	pl.NominalX(short...)
	pl.X.Min, pl.X.Max = -0.5, float64(len(benches))+0.5 // the legend is to the right
	pl.Y.Min, pl.Y.Max = 0, math.Max(math.Min(pl.Y.Max, 4), 1.2)
	return p.save(pl, name, 10*vg.Inch, 5*vg.Inch)
}

// color gives twice as many colors as plotutil has.
func color(i int) imagecolor.Color {
	if n := len(plotutil.SoftColors); i%(2*n) >= n {
		return plotutil.DarkColors[i%n]
	}
	return plotutil.SoftColors[i%len(plotutil.SoftColors)]
}

func newPlot(title string) *plot.Plot {
	pl := plot.New()
	pl.Title.Text = title
	pl.Title.TextStyle.Font.Size = 14
	pl.Title.Padding = vg.Points(8)
	return pl
}
