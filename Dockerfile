# Errand as a container: an API process, a worker or both, on a PostgreSQL named by DATABASE_URL.
# docker-compose.yml shows all of it together.
FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc tsconfig.json ./
COPY clients/typescript ./clients/typescript
COPY packages/embedded-postgres/package.json ./packages/embedded-postgres/
COPY prisma/schema.prisma ./prisma/
COPY scripts/generate-client.js ./scripts/
COPY web ./web
RUN npm ci --ignore-scripts && npm run db:generate && npm run build -w web

FROM node:24-slim

# tini reaps what agents leave behind and passes signals on. bubblewrap is the sandbox, where the host allows it.
RUN apt-get update \
 && apt-get install -y --no-install-recommends bubblewrap ca-certificates git git-lfs tini \
 && rm -rf /var/lib/apt/lists/*

WORKDIR /app

# Without the optional packages: the Node and the PostgreSQL that npm would bring. The first is in the image, the second
# has a container of its own.
COPY package.json package-lock.json .npmrc ./
COPY packages/embedded-postgres/package.json ./packages/embedded-postgres/
RUN npm ci --omit=dev --omit=optional --ignore-scripts && npm cache clean --force

COPY packages/embedded-postgres/src ./packages/embedded-postgres/src
COPY prisma ./prisma
COPY src ./src
COPY --from=build /app/src/storage/generated ./src/storage/generated
COPY --from=build /app/web/dist ./web/dist

RUN install -d -o node -g node -m 0700 /data
USER node
VOLUME /data

ENV NODE_ENV=production \
    ERRAND_HOST=0.0.0.0 \
    ERRAND_PORT=8787 \
    ERRAND_DATA_DIR=/data
EXPOSE 8787

# A worker answers here too. With ERRAND_TLS_CERT set, override it by one that speaks HTTPS.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.ERRAND_PORT}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]

# Stopping takes up to 10 seconds: docker stop --time 15.
ENTRYPOINT ["tini", "--"]
# As `npm start` does it.
CMD ["node", "--max-semi-space-size=16", "src/main.js"]
