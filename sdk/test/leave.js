/** @import { Page } from 'playwright-core' */

/**
 * Closes a tab like a visitor. The page gets beforeunload, and pagehide just before it ends;
 * page.close() alone skips the first.
 * @param {Page} page
 */
export async function closeTab(page) {
  const closed = page.waitForEvent('close');
  await page.close({ runBeforeUnload: true });
  await closed;
}

/**
 * Opens a page from another one, which closes it when it is loaded.
 * @param {Page} opener
 * @param {string} url
 */
export async function openAndClose(opener, url) {
  const opening = opener.waitForEvent('popup');
  await opener.evaluate((url) => {
    globalThis.opened = open(url);
  }, url);
  const page = await opening;
  await page.waitForLoadState();
  const closed = page.waitForEvent('close');
  await opener.evaluate(() => globalThis.opened.close());
  await closed;
}

/**
 * Follows a link.
 * @param {Page} page
 * @param {string} url
 */
export async function follow(page, url) {
  const loaded = page.waitForEvent('load');
  await page.evaluate((url) => {
    location.href = url;
  }, url);
  await loaded;
}

/**
 * Goes back to a page in the back/forward cache, and waits until it is shown.
 * @param {Page} page
 * @param {string} url
 */
export async function goBack(page, url) {
  await page.evaluate(() => {
    setTimeout(() => history.back()); // otherwise the response would get lost
  });
  await page.waitForURL(url, { waitUntil: 'commit' });
  await page.waitForFunction(() => document.visibilityState == 'visible');
}

/**
 * Makes a page behave as on a phone, for everything that it can detect.
 * @param {Page} page
 */
export async function phone(page) {
  const session = await page.context().newCDPSession(page);
  const userAgent = await page.evaluate(() => navigator.userAgent);
  const userAgentMetadata = {
    mobile: true,
    model: 'Phone',
    platform: 'Android',
    platformVersion: '16',
    architecture: '',
  };
  await session.send('Emulation.setUserAgentOverride', { userAgent, userAgentMetadata });
}
