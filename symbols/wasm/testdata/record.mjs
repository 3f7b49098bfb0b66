// Writes fib.wasm and runs it in three forms, so that a profile of this program shows how
// V8 names the functions of a module:
//
//	node --cpu-prof --cpu-prof-interval 200 record.mjs
//
// With names, without the name section, and without it but with 20 kB more, because V8
// hashes large modules in another way.
import fs from 'node:fs';

const text = (s) => [s.length, ...Buffer.from(s)];
const number = (n) => (n < 128 ? [n] : [(n & 127) | 128, ...number(n >>> 7)]);
const section = (id, bytes) => [id, ...number(bytes.length), ...bytes];
const vector = (items) => [...number(items.length), ...items.flat()];
const code = (...bytes) => [...number(bytes.length + 1), 0, ...bytes];

const header = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
const plain = [
  ...header,
  ...section(1, vector([[0x60, 1, 0x7f, 1, 0x7f], [0x60, 0, 0]])), // (i32) -> i32, () -> ()
  ...section(2, vector([
    [...text('env'), ...text('limit'), 3, 0x7f, 0], // a global, which is no function
    [...text('env'), ...text('tick'), 0, 1],
  ])),
  ...section(3, vector([[0], [0], [0]])),
  ...section(7, vector([[...text('fib'), 0, 1], [...text('run'), 0, 3]])),
  ...section(10, vector([
    // fib(n) = n < 2 ? n : fib(n - 1) + fib(n - 2)
    code(0x20, 0, 0x41, 2, 0x48, 0x04, 0x7f, 0x20, 0, 0x05,
      0x20, 0, 0x41, 1, 0x6b, 0x10, 1, 0x20, 0, 0x41, 2, 0x6b, 0x10, 1, 0x6a, 0x0b, 0x0b),
    // work(n) = fib(n) + fib(n)
    code(0x20, 0, 0x10, 1, 0x20, 0, 0x10, 1, 0x6a, 0x0b),
    // run(n) = tick(), work(n)
    code(0x10, 0, 0x20, 0, 0x10, 2, 0x0b),
  ])),
];
const names = section(0, [...text('name'),
  ...section(0, text('app')),
  ...section(1, vector([
    [1, ...text('_ZN3app3fib17h0123456789abcdefE')], // Rust: app::fib
    [2, ...text('_Z4worki')], // C++: work(int)
  ]))]);
const padding = section(0, [...text('padding'), ...new Array(20_000).fill(0)]);

fs.writeFileSync('fib.wasm', Buffer.from([...plain, ...names]));
const env = { limit: 0, tick() {} };
for (const bytes of [[...plain, ...names], plain, [...plain, ...padding]]) {
  const { run } = new WebAssembly.Instance(new WebAssembly.Module(Buffer.from(bytes)), { env }).exports;
  for (const end = Date.now() + 60; Date.now() < end; ) run(22);
}
