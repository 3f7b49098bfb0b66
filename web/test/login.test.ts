// Logins with a real OpenID provider, a real daemon and a real browser.

import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, test } from 'node:test';
import { Daemon, endAll, root, Tab } from './daemon.ts';
import { traceOf } from './shop.ts';

const providers = new Set<ChildProcess>();

after(async () => {
  await endAll();
  for (const child of providers) child.stdin?.end();
});

/** Returns an address of this machine on which no process listens. */
async function freeAddress(): Promise<string> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return `127.0.0.1:${port}`;
}

/**
 * Starts a provider whose users are all in these groups, for a daemon at a URL; returns its issuer.
 */
async function startProvider(url: string, groups: string): Promise<string> {
  const child = spawn(join(root, 'bin/test/provider'), ['-redirect', `${url}/login/callback`, '-groups', groups], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  providers.add(child);
  for await (const line of createInterface({ input: child.stdout })) return line;
  throw new Error('the provider ended');
}

/** Starts a daemon for members of the group web-perf, and for ann. */
async function startDaemon(groups: string): Promise<Daemon> {
  const address = await freeAddress();
  const issuer = await startProvider(`http://${address}`, groups);
  const secret = await writeSecret();
  return Daemon.start(
    '--query-listen',
    address,
    '--access',
    `FILE:oidc: {issuer: "${issuer}", client_id: web, client_secret_file: ${secret}, url: "http://${address}",
  name: Example, scopes: [profile, email]}
groups:
  - {name: web-perf, scopes: [query]}
users:
  - name: ann
    bcrypt: $2a$05$GbONi0oUbWftKQT89KJuceigWx23977lLpT5O90AAfPltFUF/8L9K
`,
  );
}

async function writeSecret(): Promise<string> {
  const { mkdtemp, writeFile } = await import('node:fs/promises');
  const { tmpdir } = await import('node:os');
  const file = join(await mkdtemp(join(tmpdir(), 'fieldtrie-secret-')), 'secret');
  await writeFile(file, 'secret\n');
  return file;
}

/** Goes to the provider from a page and logs in there. */
async function logIn(tab: Tab): Promise<void> {
  const { page } = tab;
  await page.getByRole('link', { name: 'Log in with Example' }).click();
  await page.waitForURL(/\/login\/username/);
  await page.locator('[name=username]').fill('test-user@localhost');
  await page.locator('[name=password]').fill('verysecure');
  await page.locator('button[type=submit], input[type=submit]').first().click();
}

test('a member of a group logs in with the provider, returns to the page, and logs out', async () => {
  const daemon = await startDaemon('all,web-perf');
  await daemon.send(traceOf(0, 'r1', '/first', 100));
  const tab = await Tab.open(daemon.url, 'page?page=%2Ffirst', {}, /status of (401|404)|^request: http:..localhost/);
  const { page } = tab;
  await logIn(tab);
  await page.waitForURL(`${daemon.url}/page?page=%2Ffirst`);
  await page.getByText('1 page view').first().waitFor();
  const cookies = (await tab.context.cookies(daemon.url)).filter((cookie) => cookie.name.includes('fieldtrie'));
  assert.equal(cookies.length, 1, JSON.stringify(cookies)); // the cookie of the login attempt is deleted
  assert.ok(
    cookies[0]!.name == 'fieldtrie-session' && cookies[0]!.httpOnly && cookies[0]!.sameSite == 'Strict',
    JSON.stringify(cookies),
  );

  // A code and a state cannot be used again, neither in this browser nor in another one.
  const callback = `${daemon.url}/login/callback?code=used&state=used`;
  for (const context of [tab.context, await tab.context.browser()!.newContext()]) {
    const response = await context.request.get(callback, { maxRedirects: 0 });
    assert.equal(response.status(), 403, await response.text());
    assert.match(await response.text(), /not started in this browser/);
  }

  await page.getByRole('button', { name: 'Log out' }).click();
  await page.getByRole('link', { name: 'Log in with Example' }).waitFor();
  assert.deepEqual(
    (await tab.context.cookies(daemon.url)).filter((cookie) => cookie.name.includes('fieldtrie')),
    [],
  );
  assert.equal((await tab.context.request.get(`${daemon.url}/api/v1/pages`)).status(), 401);
  await tab.close();
  await daemon.end();
});

test('a user without a group is rejected with a message', async () => {
  const daemon = await startDaemon('all,sales');
  const tab = await Tab.open(daemon.url, '', {}, /status of (401|403|404)|^request: http:..localhost/);
  const { page } = tab;
  await logIn(tab);
  await page.getByText('is in no group that may log in').waitFor();
  await page.getByText('test-user@zitadel.ch').waitFor();
  assert.equal((await tab.context.request.get(`${daemon.url}/api/v1/pages`)).status(), 401);

  // After the login, the browser stays on the daemon's origin, whatever the link says.
  const response = await tab.context.request.get(`${daemon.url}/login/start?next=//evil.example/`, { maxRedirects: 0 });
  assert.equal(response.status(), 302);
  const attempt = (await tab.context.cookies(daemon.url)).find((cookie) => cookie.name == 'fieldtrie-attempt');
  assert.ok(attempt?.httpOnly && attempt.sameSite == 'Lax', JSON.stringify(attempt));
  assert.equal(JSON.parse(Buffer.from(attempt.value, 'base64url').toString()).p, '/');
  await tab.close();
  await daemon.end();
});
