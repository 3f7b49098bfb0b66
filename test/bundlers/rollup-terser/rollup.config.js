// rollup --config
// upload --addr https://profiles.example.com:8419 --release $RELEASE --delete-maps dist/

import commonjs from '@rollup/plugin-commonjs';
import nodeResolve from '@rollup/plugin-node-resolve';
import replace from '@rollup/plugin-replace';
import swc from '@rollup/plugin-swc';
import terser from '@rollup/plugin-terser';

export default {
  input: 'src/main.tsx',
  output: {
    dir: 'dist',
    entryFileNames: '[name]-[hash].js',
    sourcemap: 'hidden', // no sourceMappingURL in the scripts; upload finds FILE.map
    sourcemapDebugIds: true,
  },
  plugins: [
    nodeResolve({ extensions: ['.tsx', '.ts', '.mjs', '.js'], browser: true }),
    replace({ 'process.env.NODE_ENV': '"production"', preventAssignment: true }),
    commonjs(),
    swc({
      swc: {
        jsc: {
          parser: { syntax: 'typescript', tsx: true },
          transform: { react: { runtime: 'automatic' } },
          target: 'es2022',
        },
      },
    }),
    terser(),
  ],
};
