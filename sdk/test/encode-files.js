// node encode-files.js FILE…
//
// Writes the document of each trace to standard output, preceded by its length in bytes as 4 bytes,
// little-endian. The Go test of this folder compares the documents.
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { encodeTrace } from '../src/encodeTrace.js';
import { argumentsOf } from './envelope.js';

for (const name of process.argv.slice(2)) {
  const data = readFileSync(name);
  const envelope = JSON.parse(String(name.endsWith('.gz') ? gunzipSync(data) : data));
  const document = encodeTrace(...argumentsOf(envelope));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(document.length);
  process.stdout.write(length);
  process.stdout.write(document);
}
