import { start } from 'fieldtrie';

start({ url: 'https://everywhere.example', sampleRate: 1 }); // on the server, too

export default defineNuxtPlugin(() => {});
