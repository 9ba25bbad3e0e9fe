#include "settings.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../log.h"
#include "../text.h"

#define SOCKET "/run/srv6mgr/netconf-tls.sock"
#define PER_PEER 64
#define MOST_PER_PEER 512
#define BLANKS " \t\r\n"

static const char *read_path(char **into, const char *value) {
    if (*into) {
        return "it is there twice; keep one";
    }
    if (*value != '/') {
        return "it is no absolute path; give one";
    }
    *into = must_copy(value);
    return NULL;
}

/* host:port, or [host]:port. */
static const char *read_endpoint(struct endpoint *list, size_t *count, char *value) {
    char *colon = strrchr(value, ':');
    char *host = value;
    if (!colon || colon == value || !colon[1]) {
        return "it is no host:port; write [2001:db8::1]:6513, say";
    }
    *colon = '\0';
    if (*host == '[' && colon[-1] == ']') {
        colon[-1] = '\0';
        host++;
    } else if (strchr(host, ':')) {
        return "an IPv6 address is in brackets; write [2001:db8::1]:6513, say";
    }
    if (*count == MOST_ENDPOINTS) {
        return "there are more than 16; leave some out";
    }
    list[(*count)++] = (struct endpoint){must_copy(host), must_copy(colon + 1)};
    return NULL;
}

/* tls-fingerprint of RFC 7407: the number of the hash (RFC 5246 section 7.4.1.4.1), then its
 * octets. */
static const char *read_fingerprint(struct mapping *mapping, const char *value) {
    unsigned char octets[1 + EVP_MAX_MD_SIZE];
    size_t count = 0;
    for (; isxdigit((unsigned char)value[0]) && isxdigit((unsigned char)value[1]); value += 3) {
        const char pair[] = {value[0], value[1], '\0'};
        if (count == sizeof octets) {
            break;
        }
        octets[count++] = (unsigned char)strtoul(pair, NULL, 16);
        if (value[2] != ':') {
            value += 2;
            break;
        }
    }
    if (*value || !count) {
        return "its fingerprint is not octets with colons between; see openssl x509 -fingerprint";
    }
    const EVP_MD *const hashes[] = {[4] = EVP_sha256(), [5] = EVP_sha384(), [6] = EVP_sha512()};
    if (octets[0] >= sizeof hashes / sizeof *hashes || !hashes[octets[0]]) {
        return "its fingerprint does not begin with 04 (SHA-256), 05 (SHA-384) or 06 (SHA-512); "
               "put that before the hash";
    }
    mapping->hash = hashes[octets[0]];
    mapping->length = (size_t)EVP_MD_get_size(mapping->hash);
    if (count - 1 != mapping->length) {
        return "its fingerprint has not the length of its hash; copy it again";
    }
    memcpy(mapping->fingerprint, octets + 1, mapping->length);
    return NULL;
}

static const char *read_mapping(struct settings *settings, char *value, char **rest) {
    static const char *const types[] = {
        [MAP_SPECIFIED] = "specified",
        [MAP_RFC822_NAME] = "san-rfc822-name",
        [MAP_DNS_NAME] = "san-dns-name",
        [MAP_IP_ADDRESS] = "san-ip-address",
        [MAP_URI] = "san-uri",
        [MAP_ANY] = "san-any",
        [MAP_COMMON_NAME] = "common-name",
    };
    if (settings->count == MOST_MAPPINGS) {
        return "there are more than 256; leave some out";
    }
    struct mapping *mapping = &settings->mappings[settings->count];
    const char *problem = read_fingerprint(mapping, value);
    if (problem) {
        return problem;
    }
    const char *type = strtok_r(NULL, BLANKS, rest);
    size_t found = 0;
    while (found < sizeof types / sizeof *types && (!type || strcmp(type, types[found]) != 0)) {
        found++;
    }
    if (found == sizeof types / sizeof *types) {
        return "it has no map type; choose specified, san-rfc822-name, san-dns-name, "
               "san-ip-address, san-uri, san-any or common-name";
    }
    mapping->type = (enum map_type)found;
    if (mapping->type == MAP_SPECIFIED) {
        const char *user = strtok_r(NULL, BLANKS, rest);
        if (!user) {
            return "the user is missing; write it behind specified";
        }
        mapping->user = must_copy(user);
    }
    settings->count++;
    return NULL;
}

static const char *read_count(size_t *into, const char *value) {
    char *end = NULL;
    unsigned long count = strtoul(value, &end, 10);
    if (*end || !isdigit((unsigned char)*value) || count < 1 || count > MOST_PER_PEER) {
        return "it is no number from 1 to 512; correct it";
    }
    *into = count;
    return NULL;
}

/* What is wrong with a line, and what helps; NULL: nothing. */
static const char *read_line(struct settings *settings, const char *keyword, char **rest) {
    const struct {
        const char *keyword;
        char **into;
    } paths[] = {{"certificate", &settings->certificate},
                 {"key", &settings->key},
                 {"client-ca", &settings->client_ca},
                 {"crl", &settings->crl},
                 {"socket", &settings->socket}};
    char *value = strtok_r(NULL, BLANKS, rest);
    const char *problem = "there is no such setting; see srv6-netconf-tls(8)";
    if (!value) {
        return "it has no value; add one";
    }
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        if (!strcmp(keyword, paths[i].keyword)) {
            problem = read_path(paths[i].into, value);
        }
    }
    if (!strcmp(keyword, "listen")) {
        problem = read_endpoint(settings->listen, &settings->listens, value);
    } else if (!strcmp(keyword, "call-home")) {
        problem = read_endpoint(settings->call_home, &settings->call_homes, value);
    } else if (!strcmp(keyword, "max-connections-per-peer")) {
        problem = read_count(&settings->most_per_peer, value);
    } else if (!strcmp(keyword, "cert-to-name")) {
        problem = read_mapping(settings, value, rest);
    }
    if (!problem && strtok_r(NULL, BLANKS, rest)) {
        problem = "there is more behind its value; remove that";
    }
    return problem;
}

static int check_whole(const char *path, const struct settings *settings) {
    const struct {
        const char *keyword;
        bool there;
    } needed[] = {{"certificate", settings->certificate != NULL},
                  {"key", settings->key != NULL},
                  {"client-ca", settings->client_ca != NULL},
                  {"cert-to-name", settings->count > 0},
                  {"listen or call-home", settings->listens + settings->call_homes > 0}};
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        if (!needed[i].there) {
            log_error("%s: %s is missing; add it", path, needed[i].keyword);
            return -1;
        }
    }
    return 0;
}

int settings_read(const char *path, struct settings *settings) {
    char *line = NULL;
    size_t room = 0;
    int number = 0;
    const char *problem = NULL;
    FILE *file = fopen(path, "re");
    if (!file) {
        log_error("%s: %s; write it, see srv6-netconf-tls(8)", path, strerror(errno));
        return -1;
    }
    *settings = (struct settings){.most_per_peer = PER_PEER};
    while (!problem && getline(&line, &room, file) >= 0) {
        char *rest = NULL;
        char *keyword = strtok_r(line, BLANKS, &rest);
        number++;
        if (keyword && *keyword != '#') {
            problem = read_line(settings, keyword, &rest);
            if (problem) {
                log_error("%s line %d: %s: %s", path, number, keyword, problem);
            }
        }
    }
    free(line);
    fclose(file);
    if (problem) {
        return -1;
    }
    if (!settings->socket) {
        settings->socket = must_copy(SOCKET);
    }
    return check_whole(path, settings);
}
