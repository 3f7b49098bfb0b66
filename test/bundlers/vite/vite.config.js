// vite build
// upload --addr https://profiles.example.com:8419 --release $RELEASE --delete-maps dist/

import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

export default defineConfig({
  plugins: [react()],
  build: {
    sourcemap: 'hidden', // no sourceMappingURL in the scripts; upload finds FILE.map
  },
});
