/** @import { View } from './loader.js' */
import type { View } from './loader.js';
/** How the document was loaded. */
export declare const loading: PerformanceNavigationTiming;
/**
 * Returns labels for the device and the kind of visit, coarse enough to be shared by very many
 * visitors.
 * @param {View} view
 */
export declare function labels({ $event: event }: View): {
    device: string;
    connection: string | undefined;
    navigation: string;
};
