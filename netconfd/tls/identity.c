#include "identity.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>

#include "../text.h"

char *identity_subject(const X509 *certificate) {
    BIO *memory = BIO_new(BIO_s_mem());
    char *bytes = NULL;
    struct text text = {0};
    if (memory && X509_NAME_print_ex(memory, X509_get_subject_name(certificate), 0,
                                     XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB) >= 0) {
        long length = BIO_get_mem_data(memory, &bytes);
        text_add(&text, bytes, length > 0 ? (size_t)length : 0);
    }
    BIO_free(memory);
    return text.bytes && *text.bytes ? text.bytes : (text_free(&text), must_copy("(no subject)"));
}

static bool has_fingerprint(const struct mapping *mapping, STACK_OF(X509) * chain) {
    for (int i = 0; i < sk_X509_num(chain); i++) {
        unsigned char octets[EVP_MAX_MD_SIZE];
        unsigned length = 0;
        if (X509_digest(sk_X509_value(chain, i), mapping->hash, octets, &length) &&
            length == mapping->length && !memcmp(octets, mapping->fingerprint, length)) {
            return true;
        }
    }
    return false;
}

/* A name without what no name of a user has: blanks, control characters, a NUL in the middle. */
static char *name_of(const ASN1_STRING *string) {
    unsigned char *bytes = NULL;
    char *name = NULL;
    int length = ASN1_STRING_to_UTF8(&bytes, string);
    bool proper = length > 0;
    for (int i = 0; i < length; i++) {
        proper = proper && bytes[i] > ' ' && bytes[i] != 0x7f;
    }
    if (proper) {
        name = must_copy((const char *)bytes);
    }
    OPENSSL_free(bytes);
    return name;
}

static char *common_name(const X509 *certificate) {
    const X509_NAME *subject = X509_get_subject_name(certificate);
    int first = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
    if (first < 0 || X509_NAME_get_index_by_NID(subject, NID_commonName, first) >= 0) {
        return NULL; /* none, or more than one */
    }
    return name_of(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, first)));
}

static void lower(char *from) {
    for (; from && *from; from++) {
        *from = (char)tolower((unsigned char)*from);
    }
}

/* RFC 7407 has 4 octets with dots between, and 16 as hexadecimal digits without colons. */
static char *address_of(const ASN1_OCTET_STRING *octets) {
    const unsigned char *bytes = ASN1_STRING_get0_data(octets);
    int length = ASN1_STRING_length(octets);
    char dotted[INET_ADDRSTRLEN];
    struct text digits = {0};
    if (length == 4) {
        return must_copy(inet_ntop(AF_INET, bytes, dotted, sizeof dotted));
    }
    for (int i = 0; length == 16 && i < length; i++) {
        text_printf(&digits, "%02x", bytes[i]);
    }
    return digits.bytes;
}

static char *alternative(const GENERAL_NAME *name, enum map_type type) {
    char *found = NULL;
    if (name->type == GEN_EMAIL && (type == MAP_RFC822_NAME || type == MAP_ANY)) {
        found = name_of(name->d.rfc822Name);
        lower(found ? strrchr(found, '@') : NULL);
    } else if (name->type == GEN_DNS && (type == MAP_DNS_NAME || type == MAP_ANY)) {
        found = name_of(name->d.dNSName);
        lower(found);
    } else if (name->type == GEN_URI && type == MAP_URI) {
        found = name_of(name->d.uniformResourceIdentifier);
    } else if (name->type == GEN_IPADD && (type == MAP_IP_ADDRESS || type == MAP_ANY)) {
        found = address_of(name->d.iPAddress);
    }
    return found;
}

static char *alternative_name(const X509 *certificate, enum map_type type) {
    GENERAL_NAMES *names = X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
    char *found = NULL;
    for (int i = 0; !found && i < sk_GENERAL_NAME_num(names); i++) {
        found = alternative(sk_GENERAL_NAME_value(names, i), type);
    }
    GENERAL_NAMES_free(names);
    return found;
}

char *identity_user(const struct settings *settings, STACK_OF(X509) * chain, bool *specified) {
    const X509 *own = sk_X509_value(chain, 0);
    for (size_t i = 0; i < settings->count; i++) {
        const struct mapping *mapping = &settings->mappings[i];
        char *user = NULL;
        if (!has_fingerprint(mapping, chain)) {
            continue;
        }
        *specified = mapping->type == MAP_SPECIFIED;
        if (*specified) {
            user = must_copy(mapping->user);
        } else if (mapping->type == MAP_COMMON_NAME) {
            user = common_name(own);
        } else {
            user = alternative_name(own, mapping->type);
        }
        if (user) {
            return user;
        }
    }
    return NULL;
}
