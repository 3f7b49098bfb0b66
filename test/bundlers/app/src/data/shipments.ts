import { Random } from './Random';

export type State = 'booked' | 'loaded' | 'at sea' | 'landed' | 'late';

export interface Shipment {
  id: number;
  ship: string;
  from: string;
  to: string;
  state: State;
  tonnes: number;
  price: number;
  leaves: number;
}

export const states: readonly State[] = ['booked', 'loaded', 'at sea', 'landed', 'late'];

const ports = ['Aarhus', 'Bilbao', 'Cork', 'Durban', 'Espoo', 'Fremantle', 'Göteborg', 'Halifax', 'Izmir', 'Kobe'];
const syllables = ['mar', 'ven', 'to', 'ri', 'lun', 'a', 'des', 'ko', 'sal', 'une', 'bor', 'ix'];

const capital = (word: string) => word[0]!.toUpperCase() + word.slice(1);

function shipName(random: Random) {
  return capital([...random.numbers(3, syllables.length)].map((n) => syllables[n]).join(''));
}

export function* shipments(count: number, random = Random.shared): Generator<Shipment> {
  for (let id = 1; id <= count; id++) {
    const from = random.pick(ports);
    yield {
      id,
      ship: shipName(random),
      from,
      to: random.pick(ports.filter((port) => port != from)),
      state: random.pick(states),
      tonnes: 1 + random.below(900),
      price: 100 + random.below(90_000),
      leaves: Date.UTC(2026, random.below(12), 1 + random.below(28)),
    };
  }
}

/** Creates shipments in slices, so that the page can paint in between. */
export async function loadShipments(count: number, slice = 4000) {
  const all: Shipment[] = [];
  for (const shipment of shipments(count)) {
    all.push(shipment);
    if (all.length % slice == 0) await new Promise((resolve) => setTimeout(resolve));
  }
  return all;
}
