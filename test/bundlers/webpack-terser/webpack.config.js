// webpack
// upload --addr https://profiles.example.com:8419 --release $RELEASE --delete-maps dist/

import { resolve } from 'node:path';
import TerserPlugin from 'terser-webpack-plugin';

export default {
  mode: 'production',
  devtool: 'hidden-source-map', // no sourceMappingURL in the scripts; upload finds FILE.map
  entry: './src/main.tsx',
  output: {
    path: resolve('dist'),
    filename: '[name].[contenthash:8].js',
    publicPath: '/',
  },
  resolve: { extensions: ['.tsx', '.ts', '.js'] },
  module: {
    rules: [
      {
        test: /\.tsx?$/,
        loader: 'swc-loader',
        options: {
          jsc: {
            parser: { syntax: 'typescript', tsx: true },
            transform: { react: { runtime: 'automatic' } },
            target: 'es2022',
          },
        },
      },
    ],
  },
  optimization: {
    splitChunks: { chunks: 'all', cacheGroups: { defaultVendors: { test: /node_modules/, name: 'vendor' } } },
    minimizer: [new TerserPlugin({ extractComments: false })],
  },
};
