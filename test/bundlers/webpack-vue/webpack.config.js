// webpack
// upload --addr https://profiles.example.com:8419 --release $RELEASE --delete-maps dist/

import { resolve } from 'node:path';
import { VueLoaderPlugin } from 'vue-loader';
import webpack from 'webpack';

export default {
  mode: 'production',
  devtool: 'hidden-source-map', // no sourceMappingURL in the scripts; upload finds FILE.map
  entry: './src/main.ts',
  output: {
    path: resolve('dist'),
    filename: '[name].[contenthash:8].js',
    publicPath: '/',
  },
  resolve: { extensions: ['.ts', '.js'] },
  module: {
    rules: [
      { test: /\.vue$/, loader: 'vue-loader' },
      {
        test: /\.ts$/,
        loader: 'swc-loader',
        options: { jsc: { parser: { syntax: 'typescript' }, target: 'es2022' } },
      },
    ],
  },
  plugins: [
    new VueLoaderPlugin(),
    new webpack.DefinePlugin({
      __VUE_OPTIONS_API__: 'false',
      __VUE_PROD_DEVTOOLS__: 'false',
      __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: 'false',
    }),
  ],
};
