// The products of the shop: always the same, made of a few words.

/** A product. Prices are in cents. */
export interface Product {
  id: number;
  name: string;
  maker: string;
  about: string;
  price: number;
  before: number;
  perUnit: number;
  stars: number;
  stock: number;
}

const things = ['Kettle', 'Teapot', 'Grinder', 'Mug', 'Filter', 'Scale', 'Tray', 'Jug', 'Tin', 'Spoon', 'Press', 'Whisk'];
const looks = ['Copper', 'Matte', 'Oak', 'Glass', 'Enamel', 'Steel', 'Stoneware', 'Walnut', 'Linen', 'Cast-iron'];
const makers = ['Hübner', 'Nordlys', 'Ateljé Å', 'Kōbō', 'Moulin & Fils', 'Steep', 'Første'];
const words = 'slow pour even heat hand made light strong calm morning dishwasher safe cork handle wide spout fine coarse'.split(' ');

/** Returns a seeded random generator of numbers from 0 to 1. */
export function randomOf(seed: number): () => number {
  return () => {
    seed = (seed * 1664525 + 1013904223) % 4294967296;
    return seed / 4294967296;
  };
}

const pick = <T>(random: () => number, from: readonly T[]) => from[Math.floor(random() * from.length)]!;

function makeProduct(id: number, random: () => number): Product {
  const price = 390 + Math.floor(random() * 14_000);
  const about = Array.from({ length: 24 }, () => pick(random, words)).join(' ');
  return {
    id,
    name: `${pick(random, looks)} ${pick(random, things)}`,
    maker: pick(random, makers),
    about,
    price,
    before: Math.floor(price * (1 + random() / 2)),
    perUnit: Math.floor(price / (1 + random() * 9)),
    stars: 1 + random() * 4,
    stock: Math.floor(random() * 40),
  };
}

/** Makes all products. */
export function loadCatalogue(size = 900): Product[] {
  const random = randomOf(7);
  return Array.from({ length: size }, (_, id) => makeProduct(id, random));
}
