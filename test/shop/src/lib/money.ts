// How prices are written.

const euros = new Intl.NumberFormat('de-DE', { style: 'currency', currency: 'EUR' });

/** Writes a price in cents as euros. */
export function formatPrice(cents: number): string {
  return euros.format(cents / 100);
}
