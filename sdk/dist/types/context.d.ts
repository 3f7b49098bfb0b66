/** @import { View } from './loader.js' */
import type { View } from './loader.js';
/** How the document was loaded. */
export declare const loading: PerformanceNavigationTiming;
/**
 * Labels for the device and for how the visitor came here, coarse enough for very many to share them.
 * @param {View} view
 */
export declare function labels({ $event: event }: View): {
    device: string;
    connection: string | undefined;
    navigation: string;
};
