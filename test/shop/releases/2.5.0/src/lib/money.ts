// Formats prices.

/** Currencies of the countries of delivery. */
const currencies: Record<string, string> = { 'de-DE': 'EUR', 'fr-FR': 'EUR', 'en-GB': 'GBP', 'pl-PL': 'PLN' };

/** Formats a price in cents in a country's currency. */
export function formatPrice(cents: number, locale = 'de-DE'): string {
  return new Intl.NumberFormat(locale, { style: 'currency', currency: currencies[locale] }).format(cents / 100);
}
