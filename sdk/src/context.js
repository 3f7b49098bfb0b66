/** @import { View } from './loader.js' */

/** How the document was loaded. */
export const loading = /** @type {PerformanceNavigationTiming} */ (
  performance.getEntriesByType?.('navigation')[0] ?? {}
);

/**
 * Returns labels for the device and the kind of visit, coarse enough to be shared by very many
 * visitors.
 * @param {View} view
 */
export function labels({ $event: event }) {
  // some browsers hide the memory
  const { hardwareConcurrency, deviceMemory = 8, userAgentData, connection } = navigator;
  const size = Math.min(hardwareConcurrency, deviceMemory);
  return {
    device: (userAgentData?.mobile ? 'mobile-' : 'desktop-') + (size < 4 ? 'low' : size < 8 ? 'mid' : 'high'),
    connection: connection?.effectiveType,
    navigation: event?.persisted ? 'bfcache' : loading.activationStart ? 'prerender' : loading.type,
  };
}
