/* What hiredis takes for the commands of the benchmark. It is started with a host and a port and answers lines
 *
 *   members KEY NANOSECONDS      SMEMBERS, every element looked at
 *   json KEY NANOSECONDS         GET of a JSON array of strings, and a parser that copies each of them
 *
 * with "times nanoseconds elements bytes sum peak": how often it did that and how long that took, what it read the last time,
 * and the process' largest size so far. It goes on until the time has passed; with 0 it does it once and adds up the CRC-32 of the elements. */
#include <hiredis/hiredis.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint32_t table[256];

static void make_table(void) {
  for (uint32_t i = 0; i < 256; i++) {
    uint32_t c = i;
    for (int k = 0; k < 8; k++) c = c & 1 ? 0xEDB88320u ^ (c >> 1) : c >> 1;
    table[i] = c;
  }
}

static uint32_t crc(const char *p, size_t n) {
  uint32_t c = 0xFFFFFFFFu;
  while (n-- > 0) c = table[(c ^ (unsigned char)*p++) & 0xFF] ^ (c >> 8);
  return c ^ 0xFFFFFFFFu;
}

static uint64_t elements, bytes, sum;
static int check;

static void see(const char *p, size_t n) {
  elements++;
  bytes += n;
  if (check) sum += crc(p, n);
}

static void fail(redisContext *c, redisReply *r) {
  fprintf(stderr, "%s\n", c->err ? c->errstr : r && r->type == REDIS_REPLY_ERROR ? r->str : "an unexpected reply");
  exit(1);
}

static void members(redisContext *c, const char *key) {
  redisReply *r = redisCommand(c, "SMEMBERS %s", key);
  if (!r || r->type != REDIS_REPLY_ARRAY) fail(c, r);
  for (size_t i = 0; i < r->elements; i++) see(r->element[i]->str, r->element[i]->len);
  freeReplyObject(r);
}

/* A JSON array of strings without escapes, as the benchmark writes it. */
static void json(redisContext *c, const char *key) {
  redisReply *r = redisCommand(c, "GET %s", key);
  if (!r || r->type != REDIS_REPLY_STRING) fail(c, r);
  size_t n = 0, room = 16;
  char **list = malloc(room * sizeof *list);
  for (char *p = strchr(r->str, '"'); p; p = strchr(p, '"')) {
    char *end = strchr(++p, '"');
    if (!end) fail(c, NULL);
    if (n == room) list = realloc(list, (room *= 2) * sizeof *list);
    size_t len = (size_t)(end - p);
    list[n] = malloc(len + 1);
    memcpy(list[n], p, len);
    list[n++][len] = 0;
    p = end + 1;
  }
  for (size_t i = 0; i < n; i++) {
    see(list[i], strlen(list[i]));
    free(list[i]);
  }
  free(list);
  freeReplyObject(r);
}

static int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* The process' largest size in bytes, where the system tells it; 0 elsewhere. */
static long peak(void) {
  char line[256];
  long kib = 0;
  FILE *f = fopen("/proc/self/status", "r");
  while (f && fgets(line, sizeof line, f)) sscanf(line, "VmHWM: %ld", &kib);
  if (f) fclose(f);
  return kib * 1024;
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  redisContext *c = redisConnect(argv[1], atoi(argv[2]));
  if (!c || c->err) return 1;
  make_table();
  printf("hiredis %d.%d.%d\n", HIREDIS_MAJOR, HIREDIS_MINOR, HIREDIS_PATCH);
  fflush(stdout);
  char what[16], key[256];
  int64_t limit;
  while (scanf("%15s %255s %" SCNd64, what, key, &limit) == 3) {
    int64_t times = 0, took, begin = now();
    check = limit == 0;
    do {
      elements = bytes = sum = 0;
      if (strcmp(what, "json") == 0) json(c, key);
      else members(c, key);
      times++;
      took = now() - begin;
    } while (took < limit);
    printf("%" PRId64 " %" PRId64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %ld\n", times, took, elements, bytes, sum, peak());
    fflush(stdout);
  }
  redisFree(c);
  return 0;
}
