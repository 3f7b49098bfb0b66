import assert from 'node:assert/strict';
import { check, near, stop } from './browser.js';
import { until } from './daemon.js';

// Whether the times that aggregate prints are those that the pages measure themselves.

check('a hot function has its time', async ({ daemon, site, open, ...setup }) => {
});
