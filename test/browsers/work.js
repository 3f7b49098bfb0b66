// The work of a page: it creates, sorts and prints a list of offers, without a call to the browser.

function priceOf(offer, customer) {
  let price = offer.price;
  for (const rule of offer.rules) {
    if (rule.from <= customer.orders && rule.kind == customer.kind) price -= (price * rule.percent) / 100;
  }
  return Math.max(price, offer.least);
}

function offersOf(seed) {
  const offers = [];
  let state = seed;
  const random = () => (state = (state * 1103515245 + 12345) % 2147483648) / 2147483648;
  for (let i = 0; i < 4000; i++) {
    const rules = Array.from({ length: 6 }, (_, n) => ({ from: n * 3, kind: n % 3, percent: random() * 8 }));
    offers.push({
      name: `offer ${Math.floor(random() * 1e6).toString(36)}`,
      price: 10 + random() * 90,
      least: 5,
      rules,
    });
  }
  return offers;
}

function textOf(offer, customer) {
  const words = offer.name.split(' ');
  const price = priceOf(offer, customer);
  return `${words[1].toUpperCase()} ${price.toFixed(2)} ${words[0].length + (price > 50 ? ' dear' : ' cheap')}`;
}

function show(offers, customer) {
  const sorted = [...offers].sort((a, b) => priceOf(a, customer) - priceOf(b, customer));
  return sorted.map((offer) => textOf(offer, customer)).join('\n').length;
}

/** Loops over numbers, which need the optimizing compiler more than all else does. */
function forecast(months) {
  let stock = 1;
  for (let i = 0; i < months; i++) stock = (stock * 1.0001 + (i % 7) * 0.3) % 1000;
  return stock;
}

let length = forecast(6e5);
for (let round = 0; round < 3; round++) length += show(offersOf(round + 1), { orders: 4 + round, kind: round % 3 });
globalThis.length = length;
