/*
 * A completion for bash: verbs, the options of each, the words that an option takes, networks and suites. The suites
 * are asked for when they are needed, because they are found by path.
 *
 * SPDX-License-Identifier: MIT
 */
#include "help.h"

#include <string.h>

typedef struct bash_verb {
    const verb *verb;
    FILE *out;
} bash_verb;

static void put_name(const option *o, void *user) {
    const bash_verb *b = user;
    if (o->kind == OPTION_HEADING) return;
    if (o->letter) fprintf(b->out, " -%c", o->letter);
    fprintf(b->out, " --%s", o->name);
}

/* "-o|--output) words=..." of an option that takes one of some words, or a network; files for the others. */
static void put_values(const option *o, void *user) {
    const bash_verb *b = user;
    if (o->kind == OPTION_HEADING || !o->value) return;
    int is_net = !strcmp(o->name, "net");
    fprintf(b->out, "        %s:--%s", b->verb->name, o->name);
    if (o->letter) fprintf(b->out, "|%s:-%c", b->verb->name, o->letter);
    fputs(") words=\"", b->out);
    if (is_net) fputs("$networks", b->out);
    if (!is_net && (o->kind == OPTION_CHOICE || strchr(o->value, '|')))
        for (const char *c = o->value; *c; c++) fputc(*c == '|' ? ' ' : *c, b->out);
    fputs("\" ;;\n", b->out);
}

/* What the first word of a verb may be, beside files. */
static const char *words_of(const verb *v) {
    if (v == &verb_help) return "$verbs";
    if (v == &verb_data) return "make check bench sunrgbd fmnist86 mimii";
    if (strstr(v->arguments, "SUITE")) return strstr(v->arguments, "NET") ? "$networks $(_braid_suites)" : "";
    return strstr(v->arguments, "NET") ? "$networks" : "";
}

void help_bash(FILE *out) {
    fputs("# Completion of braid for bash; written by braid help --pages.\n\n"
          "_braid_suites() { braid bench --list 2>/dev/null; }\n\n"
          "_braid() {\n"
          "    local verbs networks words options verb=${COMP_WORDS[1]} now=${COMP_WORDS[COMP_CWORD]}\n"
          "    local before=${COMP_WORDS[COMP_CWORD-1]}\n"
          "    verbs=\"",
          out);
    for (int i = 0; verbs[i]; i++) fprintf(out, "%s%s", i ? " " : "", verbs[i]->name);
    fputs("\"\n    networks=\"", out);
    for (int i = 0; braid_net_name(i); i++) fprintf(out, "%s%s", i ? " " : "", braid_net_name(i));
    fputs("\"\n    COMPREPLY=()\n"
          "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
          "        COMPREPLY=($(compgen -W \"$verbs --help --version\" -- \"$now\"))\n        return\n    fi\n"
          "    case $verb:$before in\n",
          out);
    for (int i = 0; verbs[i]; i++) options_each(verbs[i], put_values, &(bash_verb){verbs[i], out});
    fputs("        *)\n            case $verb in\n", out);
    for (int i = 0; verbs[i]; i++) {
        fprintf(out, "                %s) options=\"", verbs[i]->name);
        options_each(verbs[i], put_name, &(bash_verb){verbs[i], out});
        fprintf(out, "\" words=\"%s\" ;;\n", words_of(verbs[i]));
    }
    fputs("            esac\n            ;;\n    esac\n"
          "    case $now in\n"
          "        -*) COMPREPLY=($(compgen -W \"$options\" -- \"$now\")) ;;\n"
          "        *) COMPREPLY=($(compgen -W \"$words\" -- \"$now\") $(compgen -f -- \"$now\")) ;;\n"
          "    esac\n}\n"
          "complete -o filenames -F _braid braid\n",
          out);
}
