// Formats prices.

const euros = new Intl.NumberFormat('de-DE', { style: 'currency', currency: 'EUR' });

/** Formats a price in cents as euros. */
export function formatPrice(cents: number): string {
  return euros.format(cents / 100);
}
