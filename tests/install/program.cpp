// A user's first program in C++: the header must be C++, too. SPDX-License-Identifier: MIT
#include <braid.h>
#include <cstring>
#include <iostream>

int main() {
    braid_context_options options = {};
    options.device = "no such device";
    braid_context *context = nullptr;
    const braid_status status = braid_context_create(&options, &context);
    std::cout << braid_version() << ": " << braid_message() << "\n";
    braid_context_destroy(context);
    return status != BRAID_OK && std::strlen(braid_message()) > 0 ? 0 : 1;
}
