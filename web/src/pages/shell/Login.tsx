// The login form, if the daemon requires a login. The session is a cookie that scripts cannot read.

import { useState } from 'preact/hooks';
import { goToProvider, logIn, providerLogin } from '../../state/login.ts';
import { askAllAnew } from '../../state/responses.ts';
import { Notice } from '../../widgets/Notice.tsx';

/** A form for a user and a password, or a token. */
export function Login() {
  const [problem, setProblem] = useState('');
  const by = providerLogin();
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const text = (name: string) => String(form.get(name) ?? '');
    const who = text('token') ? { token: text('token') } : { user: text('user'), password: text('password') };
    const why = await logIn(who);
    if (why) setProblem(why);
    else askAllAnew();
  };
  return (
    <form class="login stack" onSubmit={(event) => void submit(event)}>
      <h1>Log in</h1>
      <p>
        Only groups, users and tokens in the <code>--access</code> file of this daemon have access.
      </p>
      {by && (
        <a class="button" href={by.href} onClick={goToProvider}>
          Log in with {by.name}
        </a>
      )}
      {problem && (
        <Notice kind="bad">
          <p>{problem}</p>
        </Notice>
      )}
      <label>
        User
        <input name="user" autocomplete="username" />
      </label>
      <label>
        Password
        <input name="password" type="password" autocomplete="current-password" />
      </label>
      <details>
        <summary>Use a token instead</summary>
        <label>
          Token
          <input name="token" type="password" autocomplete="off" />
        </label>
      </details>
      <button type="submit">Log in</button>
    </form>
  );
}
