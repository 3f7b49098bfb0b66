// The JS Self-Profiling API, https://wicg.github.io/js-self-profiling/, and other parts of browsers
// that TypeScript does not know yet.

import type { ProfilerTrace } from './encodeTrace.js';

declare global {
  class Profiler extends EventTarget {
    constructor(options: { sampleInterval: number; maxBufferSize: number });
    readonly sampleInterval: number;
    readonly stopped: boolean;
    stop(): Promise<ProfilerTrace>;
  }

  interface Window {
    Profiler?: typeof Profiler;
    fetchLater?: typeof fetch;
  }

  interface Performance {
    readonly interactionCount?: number;
  }

  interface Document {
    readonly prerendering?: boolean;
  }

  interface Navigator {
    readonly globalPrivacyControl?: boolean;
    readonly deviceMemory?: number;
    readonly userAgentData?: { readonly mobile: boolean };
    readonly connection?: { readonly effectiveType: string };
  }

  interface PerformanceObserverInit {
    durationThreshold?: number;
  }

  interface PerformanceNavigationTiming {
    readonly activationStart?: number;
  }

  /** Entries of the types event and long-animation-frame, and the scripts of the latter. */
  interface PerformanceEntry {
    readonly interactionId?: number;
    readonly styleAndLayoutStart?: number;
    readonly scripts?: readonly PerformanceEntry[];
    readonly sourceURL?: string;
  }
}
