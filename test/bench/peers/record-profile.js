// node record-profile.js FILE MB
//
// Writes a .cpuprofile of about MB megabytes, recorded from the TypeScript compiler while it checks
// its own source, or a part of it. Shorter sampling intervals make it larger.
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const [file, mb] = [process.argv[2], Number(process.argv[3])];
const lib = dirname(createRequire(import.meta.url).resolve('typescript'));
const source = String(readFileSync(join(lib, 'typescript.js')));
const first = source.indexOf('\nfunction '); // the code around all functions is always included

/**
 * Records with a share of the source, and an interval between samples in µs. Returns the size of
 * the profile.
 */
function record(share, interval) {
  const dir = mkdtempSync(join(tmpdir(), 'profile-'));
  try {
    const checked = join(dir, 'checked.js');
    writeFileSync(
      checked,
      share < 1 ? source.slice(first, source.indexOf('\nfunction ', share * source.length)) : source,
    );
    const { status, signal } = spawnSync(process.execPath, [
      ...['--max-old-space-size=8192', '--cpu-prof', '--cpu-prof-interval', String(interval), '--cpu-prof-dir', dir],
      ...[join(lib, 'tsc.js'), '--allowJs', '--checkJs', '--noEmit', '--skipLibCheck', checked],
    ]);
    if (status == null) throw new Error(`tsc was ended by ${signal}`); // other statuses report type errors
    const name = readdirSync(dir).find((name) => name.endsWith('.cpuprofile'));
    copyFileSync(join(dir, name), file);
  } finally {
    rmSync(dir, { recursive: true });
  }
  const { size } = statSync(file);
  console.error(
    `${(100 * share).toFixed()} % of the source, a sample every ${interval} µs: ${(size / 1e6).toFixed(1)} MB`,
  );
  return size;
}

let share = Math.min(1, mb / 100);
let interval = 100;
for (let tries = 0; tries < 3; tries++) {
  const excess = record(share, Math.round(interval)) / (mb * 1e6);
  if (Math.abs(excess - 1) < 0.25) break;
  if (share < 1 || excess > 1) share = Math.min(1, share / excess ** 0.6);
  else interval *= excess ** 1.5; // a shorter interval adds fewer new samples
}
