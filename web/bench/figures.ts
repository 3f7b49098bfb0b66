// node build.js --tests && node .tests/figures.js [DIR [ROUNDS]]
//
// Measures the dashboard in Chromium: what is loaded, the flame graph beside others on the same tree, how long what somebody
// does takes until it is on the screen, the first look at the overview, long tasks, and memory. DIR has traces, as the daemon takes them; trees are drawn in
// so many ROUNDS, 5 by default, and pages are changed 20 times as often. Prints a figure a line, as JSON.

import { endAll } from '../test/daemon.ts';
import { drawing } from './drawing.ts';
import { interaction } from './interaction.ts';
import { overview } from './overview.ts';
import { pages } from './pages.ts';
import { sizes } from './sizes.ts';
import { time } from './time.ts';

const [traces, rounds = '5'] = process.argv.slice(2);
try {
  for (const measure of [sizes, () => drawing(Number(rounds)), () => interaction(Number(rounds)), time, overview, () => pages(20 * Number(rounds), traces)]) {
    for (const figure of await measure()) console.log(JSON.stringify(figure));
  }
} finally {
  await endAll();
}
