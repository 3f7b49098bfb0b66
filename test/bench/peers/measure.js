// Shared command line of the peers:
//
//   node PEER.js FILE            converts once and prints the result
//   node PEER.js FILE SECONDS    converts repeatedly, and prints the minimum CPU time
import { readFileSync } from 'node:fs';

/**
 * @param {(data: Buffer, file: string) => number | Promise<number>} convert returns the size of the
 *   result, which must not be 0
 */
export async function measure(convert) {
  const [file, seconds = 0] = process.argv.slice(2);
  const data = readFileSync(file);
  let cpu = Infinity;
  let found = 0;
  const until = performance.now() + 1000 * Number(seconds);
  do {
    const before = process.cpuUsage();
    found = await convert(data, file);
    const { user, system } = process.cpuUsage(before);
    cpu = Math.min(cpu, (user + system) / 1e6);
  } while (performance.now() < until);
  if (!(found > 0)) throw new Error(`no output for ${file}`);
  process.stdout.write(`${JSON.stringify({ cpu, found })}\n`);
}
