// next build
// upload --addr https://profiles.example.com:8419 --release $RELEASE --delete-maps .next/static/

export default {
  productionBrowserSourceMaps: true, // maps next to the scripts, with sourceMappingURL
  turbopack: { root: import.meta.dirname },
};
