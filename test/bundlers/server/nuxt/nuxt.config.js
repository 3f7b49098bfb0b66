export default defineNuxtConfig({
  compatibilityDate: '2026-11-01',
  telemetry: false,
  runtimeConfig: { public: { release: '' } }, // NUXT_PUBLIC_RELEASE
  routeRules: { '/built': { prerender: true } },
});
