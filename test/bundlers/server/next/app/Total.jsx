'use client';

import { feature, start } from 'fieldtrie';

start({ url: 'https://everywhere.example', sampleRate: 1 });

/** The sum of prices, which a server computes, too. */
export function Total({ prices }) {
  const sum = feature('total', () => prices.reduce((a, b) => a + b));
  return <p>{`client: ${sum}`}</p>;
}
