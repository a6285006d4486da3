/*
 * braid predict: a model and what it says to images, sounds, the samples of a data set, or tensors. Nothing is
 * measured: kernels are chosen by what is remembered, or by the cost model.
 *
 * SPDX-License-Identifier: MIT
 */
#include "predict.h"

#define OFFSET(member) offsetof(predict_options, member)
static const option predict_option_list[] = {
    OPTION_GROUP("Inputs"),
    {"resize", 0, OPTION_FLAG, NULL, NULL, "images of any size, resized to that of training", OFFSET(resize)},
    {"data", 0, OPTION_TEXT, "DIR", "none", "the samples of a data set, in place of files", OFFSET(data)},
    {"split", 0, OPTION_CHOICE, "usual|val|test|train", "usual",
     "which of them; usual: val, or test where there is none, and of sounds", OFFSET(split)},
    {"like", 0, OPTION_TEXT, "DIR", "none",
     "read files as those of this set, where the model file does not tell how; else it is not used", OFFSET(like)},
    {"input", 'i', OPTION_TEXT, "FILE", "none", "safetensors with one tensor for each stream, [B,C,H,W] or [B,C]",
     OFFSET(input)},
    {"fit", 0, OPTION_TEXT, "stretch|crop|pad", "that of training", FIT_HELP " (with --data)", OFFSET(fit)},
    {"readers", 0, OPTION_COUNT, "N", "1", "threads that read files", OFFSET(readers)},
    OPTION_MAX_PIXELS(OFFSET(max_pixels)),
    OPTION_GROUP("Results"),
    {"top", 0, OPTION_COUNT, "K", "3", "the K most likely classes of each sample", OFFSET(top)},
    {"out", 0, OPTION_TEXT, "FILE", "none",
     "a file to write: one that ends in .csv, .json or .md gets what would be printed, any other is safetensors with "
     "logits [B,K] and classes [B]; replaces only such a file",
     OFFSET(out)},
    OPTION_GROUP("Model"),
    {"last", 0, OPTION_FLAG, NULL, NULL, "of a run: its last checkpoint, not its best", OFFSET(last)},
    {"net", 0, OPTION_TEXT, "NET", "that of the model file", "the network, where the model file does not describe it",
     OFFSET(net)},
    {0}};

static int open_model(prediction *p) {
    const predict_options *options = p->options;
    int code = 0;
    braid_status status = BRAID_OK;
    if (options->net)
        code = network_open(options->net, &options->network, &p->net);
    else
        status = braid_net_from_file(p->path, &p->net);
    if (status) return complain_braid(status);
    if (!code) code = context_open(&options->common, &p->context);
    if (code) return code;
    const braid_model_options wanted = network_model(&options->network);
    status = braid_model_create(p->context, p->net, &wanted, &p->model);
    if (!status) status = braid_model_load(p->model, p->path);
    return status ? complain_braid(status) : 0;
}

/* Files, or a set, or tensors: one of them. */
static int check_inputs(const predict_options *o, int words) {
    if (!words && !o->data && !o->input)
        return complain(BRAID_ERROR_ARGUMENT,
                        "expected files (STREAM=FILE ...), --data DIR, or --input FILE with --out FILE, got none");
    if ((words > 0) + (o->data != NULL) + (o->input != NULL) > 1)
        return complain(BRAID_ERROR_ARGUMENT, "expected one of files, --data and --input, got %s beside %s",
                        words ? "files" : "--data", o->input ? "--input" : "--data");
    if (o->input && !o->out)
        return complain(BRAID_ERROR_ARGUMENT, "expected --input FILE and --out FILE, got no --out");
    if (!words && (o->like || o->resize))
        return complain(BRAID_ERROR_ARGUMENT, "%s: expected with files", o->like ? "--like" : "--resize");
    if (o->split && !o->data)
        return complain(BRAID_ERROR_ARGUMENT, "--split: expected with --data, the samples of a set, got %s",
                        words ? "files" : "--input");
    if (o->fit && !o->data) return complain(BRAID_ERROR_ARGUMENT, "--fit: expected with --data, the samples of a set");
    if (o->network.size && !o->data)
        return complain(BRAID_ERROR_ARGUMENT, "--size: expected with --data, the %s",
                        words ? "model file has the size (--resize resizes images to it)" : "inputs have their size");
    return 0;
}

static int check_options(const predict_options *o, const arguments *given) {
    int code = check_inputs(o, given->count - 1);
    if (!code) code = predict_check_format(o);
    if (!code) code = options_refuse(given, "seed", "expected none, the model file has all parameters");
    if (!code && o->input)
        code = options_refuse(given, "top readers max-pixels output", "expected with files or --data, got --input");
    if (code) return code;
    if (network_dtype(&o->network) == BRAID_DTYPE_F64)
        return complain(BRAID_ERROR_ARGUMENT, "--dtype: expected f32, tf32, bf16 or f16 for a prediction, got f64");
    if (o->net) return 0;
    return network_refuse_description(&o->network,
                                      "expected with --net, or not at all: the model file describes its network");
}

static int run(const verb *self, int argc, char **argv) {
    predict_options options = {0};
    arguments words;
    prediction p = {.options = &options};
    int code = options_parse(self, argc, argv, &options, &words);
    if (code) return code;
    if (options.common.help) return help_print(self);
    code = check_options(&options, &words);
    if (code) return code;
    code = network_refuse_last(words.word[0], options.last);
    if (!code) code = network_check_model(words.word[0]);
    if (code) return code;
    interrupt_begin();
    network_find_file(words.word[0], options.last, p.path, sizeof p.path);
    code = predict_check_out(&p, words.word, words.count);
    if (!code) code = open_model(&p);
    if (!code) code = options.input ? predict_tensors(&p) : predict_samples(&p, words.word + 1, words.count - 1);
    braid_model_destroy(p.model);
    braid_context_destroy(p.context);
    braid_net_destroy(p.net);
    return code;
}

const verb verb_predict = {
    .name = "predict",
    .group = "Data and networks",
    .arguments = "RUN|MODEL [STREAM=FILE ...]",
    .summary = "what a model says to images, sounds, a data set or tensors",
    .about = "Loads the best checkpoint of a run, or a model file, and prints the most likely classes of each sample\n"
             "with their probabilities; for ssae the score of each sound, the mean squared error of what the network\n"
             "gives back: the larger, the less it is like the sounds it was trained on. A network with several\n"
             "streams takes STREAM=FILE for each (rgb=a.png depth=b.png), STREAM=FOLDER, or a folder that has a\n"
             "folder for each stream; files of folders belong together by name; a stream without any files is\n"
             "blanked. With one stream, files and folders are enough: images, IDX files or sounds. They are read,\n"
             "sized and normalised as training did it; the checkpoint tells how, and has the names of the classes.\n"
             "With --input the streams are tensors of a safetensors file (image for lenet86, features for ssae and\n"
             "mlp), and --out gets the logits and the classes. Nothing is measured on the way.",
    .options = predict_option_list,
    .normals = "batch=32; with --input 16|size=that of training|seed=none: the file has all parameters",
    .examples = "braid predict run rgb=a.png depth=b.png orth=c.png\n"
                "braid predict run rooms/test --top 1 -o csv\n"
                "braid predict run --data rooms --split test --out answers.csv\n"
                "braid predict fans fan1.wav fan2.wav\n"
                "braid predict weights.safetensors --net lenet86 --like fashion shoe.png\n"
                "braid predict model.safetensors --input x.safetensors --out y.safetensors\n",
    .common = COMMON_CONTEXT | COMMON_FORMAT | COMMON_TALK | COMMON_NETWORK,
    .least = 1,
    .most = MAX_ARGUMENTS,
    .shares_cores = 1,
    .run = run,
};
