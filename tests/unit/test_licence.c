/* SPDX-License-Identifier: MIT */
/* Licences of texts, headers, metadata; names of files and repositories. */
#include "base.h"

#include <check.h>

#include "buf.h"
#include "harvest/gitrepo.h"
#include "harvest/licence.h"

Suite *licence_suite(void);

#define MIT_TEXT                                                               \
    "Permission is hereby granted, free of charge, to any person obtaining "   \
    "a copy\nof this software and associated documentation files, to deal in " \
    "the Software\nwithout restriction. The above copyright notice and this "  \
    "permission notice shall\nbe included in all copies.\n"
#define BSD_TEXT                                                               \
    "Redistribution and use in source and binary forms, with or without\n"     \
    "modification, are permitted provided that the following conditions are "  \
    "met:\n"
#define APACHE_TEXT                                                            \
    "                Apache License\n           Version 2.0, January 2004\n"   \
    "TERMS AND CONDITIONS FOR USE, REPRODUCTION, AND DISTRIBUTION\n"
#define GPL_NOTICE                                                             \
    "it under the terms of the GNU General Public License as published by\n"   \
    "the Free Software Foundation, either version 3 of the License, or\n"      \
    "(at your option) any later version.\n"

static const struct {
    const char *text, *spdx;
} texts[] = {
    {"MIT License\n\nCopyright (c) 2020 X\n\n" MIT_TEXT, "MIT"},
    {"# " MIT_TEXT, "MIT"},
    {"Permission is hereby granted, free of charge, to any person obtaining\n"
     "a copy of this software, without restriction.\n",
     "MIT-0"},
    {APACHE_TEXT, "Apache-2.0"},
    {BSD_TEXT, "BSD-2-Clause"},
    {BSD_TEXT "Neither the name of X nor the names of its contributors may be "
              "used to\nendorse or promote products derived from\nthis "
              "software.",
     "BSD-3-Clause"},
    {"GNU GENERAL PUBLIC LICENSE\nVersion 3, 29 June 2007\n" GPL_NOTICE,
     "GPL-3.0-only"},
    {"GNU GENERAL PUBLIC LICENSE\nVersion 2, June 1991\n for noncommercial "
     "distribution\n",
     "GPL-2.0-only"},
    {"GNU LESSER GENERAL PUBLIC LICENSE\nVersion 2.1, February 1999\n",
     "LGPL-2.1-only"},
    {"This program is free software: you can redistribute " GPL_NOTICE,
     "GPL-3.0-or-later"},
    {"Mozilla Public License Version 2.0\n", "MPL-2.0"},
    {"This is free and unencumbered software released into the public domain.",
     "Unlicense"},
    {"CC0 1.0 Universal\n", "CC0-1.0"},
    {"Attribution-NonCommercial 4.0 International\n", "CC-BY-NC-4.0"},
    {"Permission to use, copy, modify, and/or distribute this software for "
     "any\npurpose with or without fee is hereby granted, provided that the "
     "above\ncopyright notice and this permission notice appear in all "
     "copies.\n",
     "ISC"},
    {APACHE_TEXT "\n----\nParts of this are under:\n" MIT_TEXT,
     "Apache-2.0 AND MIT"},
    {MIT_TEXT "\n----\na.py is adapted from x:\nLicensed under the Apache "
              "License, Version 2.0\n",
     "MIT AND Apache-2.0"},
    {"GNU GENERAL PUBLIC LICENSE\nVersion 3, 29 June 2007\n" GPL_NOTICE,
     "GPL-3.0-only"},
    /* more limits than the text has, or no known text: no answer */
    {"MIT License\n" MIT_TEXT "for non-commercial use only", ""},
    {"LLAMA 2 COMMUNITY LICENSE AGREEMENT\n", ""},
    {"All rights reserved.\n", ""},
    {"", ""},
};

START_TEST(test_texts)
{
    char spdx[SPDX_MAX];

    licence_text(spdx, span_str(texts[_i].text));
    ck_assert_str_eq(spdx, texts[_i].spdx);
}
END_TEST

static const struct {
    const char *source;
    int rc;
    bool tag;
    const char *spdx;
} headers[] = {
    {"import x\n", 0, false, ""},
    {"# SPDX-License-Identifier: MIT\n", 1, true, "MIT"},
    {"# SPDX-License-Identifier: (MIT OR Apache-2.0) \"\n", 1, true,
     "(MIT OR Apache-2.0)"},
    {"#!/usr/bin/python\n\n# Licensed under the Apache License, Version 2.0 "
     "(the\n# \"License\");\n",
     1, false, "Apache-2.0"},
    {"\"\"\"Model.\n\nLicensed under the MIT License.\n\"\"\"\nimport x\n", 1,
     false, "MIT"},
    {"# This source code is licensed under the license found in the\n"
     "# LICENSE file in the root directory\n",
     0, false, ""},
    {"# Copyright NVIDIA. Any use, reproduction, disclosure or distribution "
     "of\n# this software without an express license agreement is strictly "
     "prohibited.\n",
     2, false, ""},
    {"# licensed under the CC-by-NC license found in LICENSE\n", 2, false, ""},
    {"# see the GNU General Public License\n", 2, false, ""},
    {"# it under the terms of the GNU General Public License as published by\n"
     "# the Free Software Foundation, either version 2 of the License, or\n"
     "# (at your option) any later version.\n",
     1, false, "GPL-2.0-or-later"},
    {"\"\"\"Licensed under the Apache License, Version 2.0.\nFrom x, "
     "where\n" BSD_TEXT "\"\"\"\n",
     1, false, "Apache-2.0 AND BSD-2-Clause"},
    /* Several tags hold together. */
    {"# SPDX-License-Identifier: MIT\n# SPDX-License-Identifier: "
     "GPL-2.0-only\n",
     1, true, "MIT AND GPL-2.0-only"},
    {"# SPDX-License-Identifier: MIT OR ISC\n# x\n# SPDX-License-Identifier: "
     "Zlib OR ISC\n# SPDX-License-Identifier: Zlib\n",
     1, true, "(MIT OR ISC) AND (Zlib OR ISC) AND Zlib"},
    {"# SPDX-License-Identifier: MIT\n# SPDX-License-Identifier: MIT\n", 1,
     true, "MIT"},
    {"/* SPDX-License-Identifier: MIT */", 1, true, "MIT"},
    /* No licence, no expression. */
    {"# SPDX-License-Identifier: NONE\n", 2, true, ""},
    {"# SPDX-License-Identifier: NOASSERTION\n", 2, true, ""},
    {"# SPDX-License-Identifier: MIT\n# SPDX-License-Identifier: NONE\n", 2,
     true, ""},
    {"# SPDX-License-Identifier: GPL-2.0-only OR\n# MIT\n", 2, true, ""},
    {"# SPDX-License-Identifier: MIT, GPL-2.0-only\n", 2, true, ""},
    {"# SPDX-License-Identifier: MIT/GPL-2.0-only\n", 2, true, ""},
    {"# SPDX-License-Identifier:\n", 2, true, ""},
    {"TAG = 'SPDX-License-Identifier:'\n", 0, false, ""},
    {"# This file is not licensed under the MIT License.\n", 2, false, ""},
    {"# It isn't released under the MIT License.\n", 2, false, ""},
    {"# No longer distributed under the MIT License.\n", 2, false, ""},
    /* further down, or in code: not the file's licence */
    {"import x\n# Licensed under the MIT License\n", 0, false, ""},
    {"x = '''\nLicensed under the MIT License\n'''\n", 0, false, ""},
};

START_TEST(test_headers)
{
    char spdx[SPDX_MAX];
    bool tag;

    ck_assert_int_eq(licence_header(spdx, &tag, span_str(headers[_i].source)),
                     headers[_i].rc);
    ck_assert(tag == headers[_i].tag);
    ck_assert_str_eq(spdx, headers[_i].spdx);
}
END_TEST

START_TEST(test_rules)
{
    static const char *const allow[] = {"MIT", "BSD-*", "Apache-2.0"};
    static const char *const deny[] = {"GPL-*", "BSD-4-Clause"};
    struct licence_rules all = {NULL, NULL, 0, 0};
    struct licence_rules some = {allow, deny, 3, 2};
    struct licence_rules no_gpl = {NULL, deny, 0, 2};

    ck_assert(licence_allowed(&all, "GPL-3.0-only"));
    ck_assert(!licence_allowed(&all, ""));
    ck_assert(licence_allowed(&some, "MIT"));
    ck_assert(licence_allowed(&some, "mit"));
    ck_assert(licence_allowed(&some, "BSD-3-Clause"));
    ck_assert(!licence_allowed(&some, "BSD-4-Clause"));
    ck_assert(!licence_allowed(&some, "MIT-0"));
    ck_assert(licence_allowed(&some, "MIT AND Apache-2.0"));
    ck_assert(!licence_allowed(&some, "MIT AND GPL-2.0-only"));
    ck_assert(licence_allowed(&some, "GPL-2.0-only OR MIT"));
    ck_assert(licence_allowed(&some, "MIT OR GPL-2.0-only"));
    ck_assert(licence_allowed(&some, "(MIT OR GPL-2.0-only)"));
    ck_assert(!licence_allowed(&some, "(MIT OR ISC) AND GPL-2.0-only"));
    ck_assert(!licence_allowed(&no_gpl, "(MIT OR ISC)AND GPL-2.0-only"));
    ck_assert(!licence_allowed(&no_gpl, "(MIT OR ISC) AND (GPL-2.0-only)"));
    ck_assert(licence_allowed(&no_gpl, "MIT AND (GPL-2.0-only OR ISC)"));
    ck_assert(licence_allowed(&no_gpl, "(MIT AND GPL-2.0-only) OR ISC"));
    ck_assert(
        !licence_allowed(&no_gpl, "MIT AND GPL-2.0-only OR GPL-3.0-only"));
    ck_assert(licence_allowed(&no_gpl, "mit or gpl-2.0-only"));
    ck_assert(!licence_allowed(&no_gpl, "mit and gpl-2.0-only"));
    ck_assert(!licence_allowed(&no_gpl, "GPL-2.0-only WITH Some-exception"));
    ck_assert(!licence_allowed(&no_gpl, "GPL-2.0-only OR"));
    ck_assert(!licence_allowed(&no_gpl, "OR GPL-2.0-only"));
    ck_assert(!licence_allowed(&no_gpl, "MIT WITH AND GPL-2.0-only"));
    ck_assert(!licence_allowed(&no_gpl, "MIT OR ISC) AND GPL-2.0-only"));
    ck_assert(!licence_allowed(&no_gpl, "((MIT)"));
    ck_assert(licence_allowed(&some, "Apache-2.0 WITH LLVM-exception"));
    ck_assert(licence_allowed(&no_gpl, "ISC"));
    ck_assert(!licence_allowed(&no_gpl, "GPL-3.0-or-later"));
}
END_TEST

START_TEST(test_file_names)
{
    static const char *const order[] = {
        "LICENSE",     "LICENSE.md",     "LICENSE.txt",  "LICENSE.rst",
        "UNLICENSE",   "COPYING.LESSER", "COPYING",      "LICENSE-MIT",
        "MIT-LICENSE", "COPYRIGHT",      "COPYRIGHT.txt"};

    for (size_t i = 1; i < ARRAY_LEN(order); i++)
        ck_assert_msg(licence_file_rank(span_str(order[i - 1])) >
                          licence_file_rank(span_str(order[i])),
                      "%s, %s", order[i - 1], order[i]);
    ck_assert_int_eq(licence_file_rank(SPAN_LIT("Licence")),
                     licence_file_rank(SPAN_LIT("LICENSE")));
    ck_assert_int_gt(licence_file_rank(SPAN_LIT("copyright.txt")), 0);
    ck_assert_int_eq(licence_file_rank(SPAN_LIT("license.py")), 0);
    ck_assert_int_eq(licence_file_rank(SPAN_LIT("README.md")), 0);
    ck_assert_int_eq(licence_file_rank(SPAN_LIT("")), 0);
    /* of other things than code */
    ck_assert_int_eq(licence_file_rank(SPAN_LIT("LICENSE-MODEL")), 0);
    ck_assert_int_eq(licence_file_rank(SPAN_LIT("data-license.txt")), 0);
    ck_assert(licence_is_notice(licence_file_rank(SPAN_LIT("COPYRIGHT"))));
    ck_assert(!licence_is_notice(licence_file_rank(SPAN_LIT("MIT-LICENSE"))));
}
END_TEST

static const struct {
    const char *name, *spdx;
    bool yes;
} called[] = {
    {"LICENSE-MIT", "MIT", true},
    {"LICENSE.mit.txt", "MIT", true},
    {"MIT-LICENSE", "MIT", true},
    {"mit_license.md", "MIT", true},
    {"LICENSE-APACHE", "Apache-2.0", true},
    {"LICENSE-APACHE-2.0", "Apache-2.0", true},
    {"LICENSE_APACHE2.txt", "Apache-2.0", true},
    {"LICENSE.GPLv3", "GPL-3.0-only", true},
    {"LICENSE-BSD-3-Clause", "BSD-3-Clause", true},
    {"LICENSE", "MIT", false},
    {"COPYING", "GPL-3.0-only", false},
    {"LICENSE.txt", "MIT", false},
    {"LICENSE-MIT", "Apache-2.0", false},
    {"LICENSE-MIT-CSAIL", "MIT", false},
    {"LICENSE-FID", "Apache-2.0", false},
    {"LICENSE-", "MIT", false},
    {"", "MIT", false},
};

START_TEST(test_called_after)
{
    ck_assert(licence_names(span_str(called[_i].name), called[_i].spdx) ==
              called[_i].yes);
}
END_TEST

static const struct {
    const char *text, *spdx;
} metadata[] = {
    {"[project]\nlicense = \"MIT\"\n", "MIT"},
    {"license = {text = \"Apache-2.0\"}\n", "Apache-2.0"},
    {"license={ file = \"LICENSE\" }\nclassifiers = [\n"
     "  \"License :: OSI Approved :: MIT License\",\n]\n",
     "MIT"},
    {"setup(\n    name='x',\n    license='Apache License 2.0',\n)\n",
     "Apache-2.0"},
    {"Metadata-Version: 2.1\nLicense: BSD-3-Clause\n", "BSD-3-Clause"},
    {"license = 'MIT'\n'License :: OSI Approved :: MIT License'\n", "MIT"},
    {"License :: OSI Approved :: MIT License\nLicense :: OSI Approved :: GNU "
     "General Public License v2 or later (GPLv2+)\n",
     ""},
    {"[metadata]\nlicense = proprietary\n", ""},
    {"license", ""},
    {"", ""},
};

START_TEST(test_metadata)
{
    char spdx[SPDX_MAX];

    licence_metadata(spdx, span_str(metadata[_i].text));
    ck_assert_str_eq(spdx, metadata[_i].spdx);
}
END_TEST

static const struct {
    const char *text, *spdx;
} readmes[] = {
    /* a section on licences */
    {"## License\n\nX is released under the [MIT license](LICENSE).\n", "MIT"},
    {"## License\n\nMIT License\n", "MIT"},
    {"## License\n\n[MIT](https://choosealicense.com/licenses/mit/)\n", "MIT"},
    {"License\n-------\n\nDistributed under the Apache License,\nversion "
     "2.0.\n",
     "Apache-2.0"},
    {"<h2>Licence</h2>\nReleased under the 3-clause BSD license.\n",
     "BSD-3-Clause"},
    {"# X\n\n### MIT License\n\nSee LICENSE.\n", "MIT"},
    {"# License\n\n- X is released under GPLv3.\n", "GPL-3.0-only"},
    {"## License\n\nMIT\n\n## Thanks\n\nY is Apache 2.0 licensed.\n", "MIT"},
    {"## License\n### Code\nMIT\n### Weights\nApache 2.0\n", "MIT"},
    {"## License\n\nReleased under the MIT license.\na/ is licensed under the "
     "Apache License, Version 2.0.\n",
     ""},
    {"## License\n\nThe code is MIT licensed. Z of it is Apache 2.0 "
     "licensed.\n",
     ""},
    {"## License\n\nMIT License, except for a/.\n", ""},
    {"## License\n\nThe dataset is released under the MIT license.\n", ""},
    {"## License\n\nCopyright 2020 MIT CSAIL\n", ""},
    {"## License\n\nReleased under the MIT license, weights for "
     "non-commercial use.\n",
     ""},
    {"## Model License\n\nMIT License\n", ""},
    {"## Install\n\nMIT License\n", ""},
    {"```\n## License\nMIT License\n```\n", ""},
    /* a sentence about the project */
    {"This project is licensed under the MIT License.\n", "MIT"},
    {"# X: a thing\n\nX is MIT licensed.\n", "MIT"},
    {"All code in this repository is released under the Apache 2.0 license.\n",
     "Apache-2.0"},
    {"License: MIT\n", "MIT"},
    {"# X\nWe use Y, which is MIT licensed. X is MIT licensed.\n", "MIT"},
    {"# X\n\nPyTorch is MIT licensed.\n", ""},
    {"# PyTorch Models\n\nPyTorch is MIT licensed.\n", ""},
    {"This project depends on Y, which is Apache 2.0 licensed.\n", ""},
    {"This project is based on Y, released under the MIT license.\n", ""},
    {"The code of Y is MIT licensed.\n", ""},
    {"- Y, a library under the MIT license\n", ""},
    {"| this package | MIT License |\n", ""},
    {"Distributed under the Apache License, version 2.0.\n", ""},
    {"# X\nX is not licensed under the MIT license.\n", ""},
    {"# X\nX is no longer released under the MIT license.\n", ""},
    {"# X\nX was formerly released under the MIT license.\n", ""},
    {"# X\nX is licensed under either the MIT license or Apache 2.0.\n", ""},
    {"Any license you like, as the MIT one.\n", ""},
    /* badges, front matter */
    {"![l](https://img.shields.io/badge/License-MIT-yellow.svg)\n", "MIT"},
    {"<img src=\"https://img.shields.io/badge/license-Apache%202.0-blue\">\n",
     "Apache-2.0"},
    {"![](https://img.shields.io/badge/licence-BSD_3--Clause-blue)\n",
     "BSD-3-Clause"},
    {"![](https://img.shields.io/badge/models_license-MIT-blue)\n", ""},
    {"![](https://img.shields.io/badge/license-MIT_or_so-blue)\n", ""},
    {"![](https://img.shields.io/badge/license-MIT-blue)\n\n## License\n\n"
     "Apache 2.0\n",
     ""},
    {"![](https://img.shields.io/badge/license-", ""},
    {"---\ntags: x\nlicense: apache-2.0\nname: y\n---\n# X\n", "Apache-2.0"},
    {"## License", ""},
    {"#", ""},
    {"", ""},
};

START_TEST(test_readme)
{
    char spdx[SPDX_MAX];

    licence_readme(spdx, span_str(readmes[_i].text));
    ck_assert_str_eq(spdx, readmes[_i].spdx);
}
END_TEST

static const struct {
    const char *url, *name;
} urls[] = {
    {"https://github.com/a/b.git", "github.com/a/b"},
    {"https://github.com/a/b/", "github.com/a/b"},
    {"https://user:secret@host.org:8443/a/b", "host.org/a/b"},
    {"https://host.org/a/b?token=secret", "host.org/a/b"},
    {"https://host.org/a/b.git#secret/x", "host.org/a/b"},
    {"https://host.org?secret/a", ""},
    {"https://u:sec?ret@host/a", "host/a"},
    {"git@github.com:a/b.git", "github.com/a/b"},
    {"ssh://git@host/a/b/c.git", "host/a/b/c"},
    {"host:/a/b", "host/a/b"},
    {"/local/path/x", ""},
    {"../x", ""},
    {"./x:y", ""},
    {"file:///a/b", ""},
    {"https://host", ""},
    {"https://", ""},
    {":", ""},
    {"", ""},
};

START_TEST(test_urls)
{
    char name[64];

    git_url_name(span_str(urls[_i].url), name, sizeof(name));
    ck_assert_str_eq(name, urls[_i].name);
}
END_TEST

static const struct {
    const char *source, *want;
} sources[] = {
    {"https://user:secret@host.org:8443/a/b", "https://host.org:8443/a/b"},
    {"https://user:se@cret@host/a@b", "https://host/a@b"},
    {"https://host/a?token=x", "https://host/a"},
    {"ssh://git:secret@host", "ssh://host"},
    {"https://u:sec?ret@host/a", "https://host/a"},
    {"https://u:sec#ret@host", "https://host"},
    {"git@github.com:a/b.git", "git@github.com:a/b.git"},
    {"a/b@c?d", "a/b@c?d"},
    {"file:///a@b?c", "file:///a@b?c"},
    {"", ""},
};

START_TEST(test_public_sources)
{
    char text[64], little[8];

    git_public_source(sources[_i].source, text, sizeof(text));
    ck_assert_str_eq(text, sources[_i].want);
    git_public_source(sources[_i].source, little, sizeof(little));
    ck_assert_uint_lt(strlen(little), sizeof(little));
}
END_TEST

START_TEST(test_folder_names)
{
    char name[64];

    git_folder_name("/no/such/x", name, sizeof(name));
    ck_assert_str_eq(name, "x");
    git_folder_name("/no/such/x.git/", name, sizeof(name));
    ck_assert_str_eq(name, "x");
    git_folder_name("/no/such/x/.git", name, sizeof(name));
    ck_assert_str_eq(name, "x");
    git_folder_name("/", name, sizeof(name));
    ck_assert_str_eq(name, "repository");
}
END_TEST

Suite *licence_suite(void)
{
    Suite *s = suite_create("licence");
    TCase *t = tcase_create("licence");

    tcase_add_loop_test(t, test_texts, 0, (int)ARRAY_LEN(texts));
    tcase_add_loop_test(t, test_headers, 0, (int)ARRAY_LEN(headers));
    tcase_add_test(t, test_rules);
    tcase_add_test(t, test_file_names);
    tcase_add_loop_test(t, test_called_after, 0, (int)ARRAY_LEN(called));
    tcase_add_loop_test(t, test_metadata, 0, (int)ARRAY_LEN(metadata));
    tcase_add_loop_test(t, test_readme, 0, (int)ARRAY_LEN(readmes));
    tcase_add_loop_test(t, test_urls, 0, (int)ARRAY_LEN(urls));
    tcase_add_loop_test(t, test_public_sources, 0, (int)ARRAY_LEN(sources));
    tcase_add_test(t, test_folder_names);
    suite_add_tcase(s, t);
    return s;
}
