package compare

// StudentTail returns the probability that |T| is at least t for a Student's T with the given
// degrees of freedom.
func StudentTail(t, freedom float64) float64 { return studentTail(t, freedom) }

// StudentQuantile returns the t that |T| exceeds with probability p, from 0 to 1.
func StudentQuantile(p, freedom float64) float64 { return studentQuantile(p, freedom) }
