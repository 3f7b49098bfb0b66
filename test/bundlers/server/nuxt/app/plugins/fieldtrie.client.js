import { start } from 'fieldtrie/loader';

export default defineNuxtPlugin(() => {
  const { release } = useRuntimeConfig().public;
  start({ url: 'https://client.example', release, sampleRate: 1 });
});
