// The integrity of parts, which the build fills in.

declare const REST: string;
declare const STACKLESS: string;
declare const RECORDER: string;
