/* SPANK plugin: `srun --nacre[=HINTS|off] ./app` starts the tasks with Nacre preloaded.
 *
 * A line of plugstack.conf loads it (docs/site.md):
 *
 *   optional /opt/nacre/lib/slurm/nacre.so [library=PATH] [default=on|off]
 *
 * library: libnacre.so on the compute nodes. default=on: jobs without the option run on Nacre too.
 * The plugin changes the environment of tasks only. It never fails a job: if it cannot preload
 * Nacre, it says so and the tasks run without it. */
#include <limits.h>
#include <slurm/spank.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

EXPORTED extern const char plugin_name[];
EXPORTED extern const char plugin_type[];
EXPORTED extern const unsigned int plugin_version;
EXPORTED extern const unsigned int spank_plugin_version;
SPANK_PLUGIN(nacre, 1)

enum { VALUE_MAX = 32768 };

static const char* library = NACRE_LIBRARY;
static bool is_on = false;
static bool is_asked = false;   /* by --nacre, and not by default=on */
static bool is_refused = false; /* by --nacre=off */
/* The hints of --nacre, in the form of NACRE_HINTS. */
static char hints[VALUE_MAX];

/* Appends a rule of --nacre to the hints. A rule without a glob is for all files. Returns false if
 * there is no room. */
static bool add_rule(const char* rule, size_t length) {
  const char* equals = memchr(rule, '=', length);
  const char* colon = memchr(rule, ':', length);
  const bool has_glob = colon && (!equals || colon < equals);
  const size_t used = strlen(hints);
  const int written = snprintf(hints + used, sizeof hints - used, "%s%s%.*s", used ? "," : "",
                               has_glob ? "" : "*:", (int)length, rule);
  return written >= 0 && (size_t)written < sizeof hints - used;
}

static int take_option(int value, const char* argument, int is_remote) {
  (void)value;
  (void)is_remote;
  is_refused = argument && strcmp(argument, "off") == 0;
  is_on = is_asked = !is_refused;
  hints[0] = '\0';
  for (const char* rule = argument; is_on && rule && *rule;) {
    const size_t length = strcspn(rule, ",");
    if (length && !add_rule(rule, length)) {
      slurm_error("nacre: --nacre: the hints are longer than %d bytes", VALUE_MAX - 1);
      return ESPANK_BAD_ARG;
    }
    rule += length + (rule[length] == ',');
  }
  return ESPANK_SUCCESS;
}

static struct spank_option option = {"nacre",
                                     "[GLOB:]KEY=VALUE,...|off",
                                     "Run the program's MPI-IO on Nacre, with hints for files "
                                     "(--nacre='*.h5:cb_nodes=8'), or not (--nacre=off)",
                                     2,
                                     0,
                                     take_option};

static void take_plugin_argument(const char* argument) {
  if (strncmp(argument, "library=", 8) == 0) {
    library = argument + 8;
  } else if (strcmp(argument, "default=on") == 0) {
    is_on = true;
  } else if (strcmp(argument, "default=off") != 0) {
    slurm_error(
        "nacre: plugstack.conf: unknown argument \"%s\"; known are library=PATH and default=on|off",
        argument);
  }
}

EXPORTED int slurm_spank_init(spank_t spank, int count, char* arguments[]) {
  if (spank_context() == S_CTX_SLURMD) return ESPANK_SUCCESS; /* has no options */
  for (int i = 0; i < count; ++i) take_plugin_argument(arguments[i]);
  return spank_option_register(spank, &option);
}

/* Whether `text` is `value`, or ends with `separator` and `value`. */
static int ends_with(const char* text, const char* separator, const char* value) {
  const size_t text_length = strlen(text);
  const size_t value_length = strlen(value);
  if (text_length < value_length) return 0;
  const char* const end = text + text_length - value_length;
  return strcmp(end, value) == 0 && (end == text || end[-1] == *separator);
}

/* Appends `separator` and `value` to a variable of the tasks; leaves it alone if it ends with
 * them. */
static int append(spank_t spank, const char* name, const char* separator, const char* value) {
  char before[VALUE_MAX] = "";
  const spank_err_t found = spank_getenv(spank, name, before, sizeof before);
  if (found != ESPANK_SUCCESS && found != ESPANK_ENV_NOEXIST) return found;
  if (ends_with(before, separator, value)) return ESPANK_SUCCESS;
  char after[2 * VALUE_MAX + 2];
  snprintf(after, sizeof after, "%s%s%s", before, *before ? separator : "", value);
  return spank_setenv(spank, name, after, 1);
}

/* The variable is a user's or a site's switch, or that of `sbatch --nacre=off`. */
static void warn_if_disabled(spank_t spank) {
  char value[VALUE_MAX] = "";
  if (spank_getenv(spank, "NACRE_DISABLE", value, sizeof value) != ESPANK_SUCCESS) return;
  if (*value == '\0' || strcmp(value, "0") == 0) return;
  slurm_error("nacre: --nacre has no effect, because NACRE_DISABLE is %s in this job", value);
}

/* On the compute node, as the user, before a task starts. The preload of the user comes first, as
 * with `nacre run`. */
EXPORTED int slurm_spank_task_init(spank_t spank, int count, char* arguments[]) {
  (void)count;
  (void)arguments;
  /* The tasks may have a preload from the environment of a batch job. */
  if (is_refused) spank_setenv(spank, "NACRE_DISABLE", "1", 1);
  if (!is_on) return ESPANK_SUCCESS;
  if (is_asked) warn_if_disabled(spank);
  if (access(library, R_OK) != 0) {
    slurm_error("nacre: cannot read %s on this node: %m; the tasks run without Nacre", library);
    return ESPANK_SUCCESS;
  }
  if (append(spank, "LD_PRELOAD", ":", library) != ESPANK_SUCCESS ||
      (*hints && append(spank, "NACRE_HINTS", ",", hints) != ESPANK_SUCCESS)) {
    slurm_error("nacre: cannot set LD_PRELOAD and NACRE_HINTS of a task; it may run without Nacre");
  }
  return ESPANK_SUCCESS;
}
