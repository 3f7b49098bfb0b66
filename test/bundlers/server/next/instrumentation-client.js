import { start } from 'fieldtrie/loader';

start({ url: 'https://client.example', release: process.env.NEXT_PUBLIC_RELEASE, sampleRate: 1 });
