// node build.js
// upload --addr https://profiles.example.com:8419 --release $RELEASE --delete-maps dist/

import { build } from 'esbuild';

await build({
  entryPoints: ['src/main.tsx'],
  outdir: 'dist',
  entryNames: '[name]-[hash]',
  bundle: true,
  splitting: true,
  format: 'esm',
  target: 'es2022',
  minify: true,
  sourcemap: 'external', // next to the scripts, without sourceMappingURL
});
