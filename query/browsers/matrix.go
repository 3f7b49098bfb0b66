package browsers

// square returns a matrix of zeros.
func square(n int) [][]float64 {
	out, all := make([][]float64, n), make([]float64, n*n)
	for i := range out {
		out[i] = all[i*n : (i+1)*n : (i+1)*n]
	}
	return out
}

// inverse returns the inverse of a symmetric positive definite matrix by elimination, which needs
// no exchange of rows there. It overwrites m.
func inverse(m [][]float64) [][]float64 {
	n := len(m)
	out := square(n)
	for i := range out {
		out[i][i] = 1
	}
	for i := range n {
		pivot := 1 / m[i][i]
		for k := range n {
			m[i][k] *= pivot
			out[i][k] *= pivot
		}
		for row := range n {
			factor := m[row][i]
			if row == i || factor == 0 {
				continue
			}
			for k := range n {
				m[row][k] -= factor * m[i][k]
				out[row][k] -= factor * out[i][k]
			}
		}
	}
	return out
}

func multiply(m [][]float64, v []float64) []float64 {
	out := make([]float64, len(m))
	for i := range m {
		for k, x := range v {
			out[i] += m[i][k] * x
		}
	}
	return out
}

func product(a, b [][]float64) [][]float64 {
	out := square(len(a))
	for i := range a {
		for k, x := range a[i] {
			for j, y := range b[k] {
				out[i][j] += x * y
			}
		}
	}
	return out
}

func transposed(m [][]float64) [][]float64 {
	out := square(len(m))
	for i := range m {
		for k := range m {
			out[k][i] = m[i][k]
		}
	}
	return out
}
