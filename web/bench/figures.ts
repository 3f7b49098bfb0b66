// node build.js --tests && node .tests/figures.js [DIR [ROUNDS]]
//
// Measures the dashboard in Chromium: download sizes, the flame graph against other viewers with
// the same tree, the latency of interactions, the first view of the overview, long tasks, and
// memory. DIR contains traces in the daemon's format. Trees are drawn in ROUNDS rounds, 5 by
// default, and pages are changed 20 times as often. It prints one figure per line, as JSON.

import { endAll } from '../test/daemon.ts';
import { drawing } from './drawing.ts';
import { interaction } from './interaction.ts';
import { overview } from './overview.ts';
import { pages } from './pages.ts';
import { sizes } from './sizes.ts';
import { time } from './time.ts';

const [traces, rounds = '5'] = process.argv.slice(2);
try {
  for (const measure of [
    sizes,
    () => drawing(Number(rounds)),
    () => interaction(Number(rounds)),
    time,
    overview,
    () => pages(20 * Number(rounds), traces),
  ]) {
    for (const figure of await measure()) console.log(JSON.stringify(figure));
  }
} finally {
  await endAll();
}
