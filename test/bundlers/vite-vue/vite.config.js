// vite build
// upload --addr https://profiles.example.com:8419 --release $RELEASE --delete-maps dist/

import vue from '@vitejs/plugin-vue';
import { defineConfig } from 'vite';

export default defineConfig({
  plugins: [vue()],
  build: {
    sourcemap: 'hidden', // no sourceMappingURL in the scripts; upload finds FILE.map
  },
});
