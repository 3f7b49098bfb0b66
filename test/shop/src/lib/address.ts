// Suggests addresses while a customer types one.

import { randomOf } from './catalogue.ts';

const streets = ['Lindenweg', 'Rue du Four', 'Hafenstraße', 'Mill Lane', 'Kirchgasse', 'Quai Nord', 'Ulica Długa', 'Station Road'];
const towns = ['Bremen', 'Lyon', 'Gdańsk', 'Leeds', 'Aarhus', 'Gent', 'Basel', 'Graz'];

let known: string[] | undefined;

function loadAddresses(): string[] {
  const random = randomOf(11);
  const any = (from: string[]) => from[Math.floor(random() * from.length)]!;
  return Array.from({ length: 5000 }, () => `${any(streets)} ${1 + Math.floor(random() * 120)}, ${any(towns)}`);
}

/** How many letters must change to make a the beginning of b. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      next[j] = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] == b[j - 1] ? 0 : 1));
    }
    row = next;
  }
  return row[b.length]!;
}

/** Returns the addresses closest to the typed text. */
export function suggestAddresses(typed: string): string[] {
  known ??= loadAddresses();
  const text = typed.toLowerCase();
  return known
    .map((address) => ({ address, far: distance(text, address.slice(0, text.length).toLowerCase()) }))
    .sort((a, b) => a.far - b.far)
    .slice(0, 6)
    .map(({ address }) => address);
}
