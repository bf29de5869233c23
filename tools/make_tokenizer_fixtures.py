#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes tests/fixtures/tokenizer: hard strings and the ids that Hugging Face gives them.

    pip install tokenizers==0.23.3 gguf
    tools/make_tokenizer_fixtures.py SmolLM2-135M-Instruct.Q4_1.gguf

Four tokenizers: SmolLM2's, rebuilt from the vocabulary and merges of its GGUF file, and three
small ones (8,192 tokens) trained here with the pre-tokenisers of GPT-2, Llama 3 and Qwen2. The
training text is what Debian has everywhere (licences, Python's library) and the sentences below,
so that another machine trains other tokenizers; the ids are made anew with them, and the fixtures
always fit together. Everything else is deterministic.

Files, all gzip: strings.bin (u32 length, bytes; repeated), NAME.ids.bin (for each string: u32
count, u16 ids; then the same for the strings that hold "<|", special tokens as plain text),
NAME.tokenizer.json, and smollm2.vocab.json {"tokens", "types", "merges"} as the GGUF has them.
"""

import gzip
import json
import pathlib
import random
import struct
import sys
import unicodedata

from gguf import GGUFReader
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers
from tokenizers import pre_tokenizers, processors, trainers

OUT = pathlib.Path(__file__).resolve().parent.parent / "tests/fixtures/tokenizer"

SENTENCES = """
The quick brown fox can't jump; it's 12,345 metres away, isn't it? They're sure WE'LL see.
Der Fluß fließt über große Straßen, während Bäume grüne Blätter trägen.
L'été dernier, nous avons mangé des crêpes à l'hôtel près de la forêt.
El niño pequeño corrió mañana por la montaña con su corazón.
Żółta łódź płynie cicho przez jezioro o świcie, gdzie śpiewają ptaki.
Být či nebýt, příliš žluťoučký kůň úpěl ďábelské ódy.
Η γρήγορη αλεπού πηδάει πάνω από το τεμπέλικο σκυλί στην Αθήνα.
Быстрая лиса прыгает через ленивую собаку возле старого дома у реки.
Швидка лисиця стрибає через ледачого пса біля їхньої ґанку.
השועל המהיר קופץ מעל הכלב העצלן ליד הבית הישן.
الثعلب السريع يقفز فوق الكلب الكسول بجانب البيت القديم.
روباه سریع از روی سگ تنبل می‌پرد و به خانه می‌رود.
तेज़ लोमड़ी आलसी कुत्ते के ऊपर कूदती है और नदी के पास रहती है।
দ্রুত শিয়াল অলস কুকুরের উপর দিয়ে লাফ দেয়।
வேகமான நரி சோம்பேறி நாயின் மீது தாவுகிறது.
వేగవంతమైన నక్క సోమరి కుక్క మీద దూకుతుంది.
สุนัขจิ้งจอกสีน้ำตาลกระโดดข้ามสุนัขขี้เกียจ
ໝາໃນປ່າແລ່ນໄວຢູ່ໃກ້ແມ່ນ້ຳ
မြန်သော မြေခွေးသည် ပျင်းရိသော ခွေးကို ကျော်သည်။
敏捷的棕色狐狸跳过了懒狗，然后在河边的老房子旁边休息。
素早い茶色の狐がのろまな犬を飛び越えて、川のそばの古い家で休みました。
빠른 갈색 여우가 게으른 개를 뛰어넘어 강가의 오래된 집에서 쉬었다.
Con cáo nâu nhanh nhẹn nhảy qua con chó lười biếng cạnh ngôi nhà cổ.
Hızlı kahverengi tilki tembel köpeğin üzerinden atlıyor; İstanbul'da ılık bir gün.
სწრაფი მელა ახტება ზარმაც ძაღლს მდინარის პირას.
Արագ աղվեսը ցատկում է ծույլ շան վրայով։
ፈጣኑ ቀበሮ በሰነፉ ውሻ ላይ ዘለለ።
""".strip().split("\n")

CODE = """
for (int i = 0; i < n; ++i) {\n\t\tsum += a[i] * b[i];  // dot\n\t}\n
def f(x, *args, **kw):\n    return {k: v for k, v in kw.items() if v is not None}\n
SELECT * FROM t WHERE x >= 10 AND name LIKE '%o''brien%';
<div class="a-b_c" id='x'>&nbsp;&#x27;</div><!-- end -->
#!/bin/bash\nset -euo pipefail\necho "${HOME:-/root}" | sed 's/\\\\//g' >> /dev/null 2>&1
{"a": [1, 2.5e-10, null, true], "b": {"c": "\\u00e9\\n"}}
x = 0xDEADBEEF ^ 0b1010 | 0o777 & ~1_000_000;
let r: Result<Vec<&'static str>, Box<dyn Error>> = Ok(vec![]);
\\begin{equation} \\frac{a}{b} = \\sum_{i=0}^{n} x_i^2 \\end{equation}
https://example.org:8080/a/b.html?q=1&r=%20x#frag user.name+tag@mail.example.co.uk
""".strip().split("\n")

CONTRACTIONS = ["'s", "'S", "'t", "'T", "'re", "'RE", "'rE", "'ve", "'Ve", "'m", "'M", "'ll", "'LL",
                "'lL", "'d", "'D", "’s", "''s", "'ſ", "'x", "'", "'l", "'sam", "'Re5", "'S'T"]
SPACES = [" ", "  ", "   ", "\t", "\n", "\n\n", "\r\n", "\r", "\u00a0", "\u3000", "\u2009", "\u200b",
          "\u2028", "\u2029", "\u0085", "\u1680", "\u180e", "\u202f", "\u205f", "\ufeff", "\x0b", "\x0c",
          " \n", "\n ", "\t\t", " \t ", "\r\n\r\n", "\x1c", "\x1f", " " * 7, " " * 33, "\n" * 9]
EMOJI = ["😀", "👨‍👩‍👧‍👦", "🏳️‍🌈", "👍🏽", "🇩🇪🇫🇷", "1️⃣", "❤️", "🧑🏿‍🚀", "☺", "🫠", "👁️‍🗨️", "🏴󠁧󠁢󠁳󠁣󠁴󠁿", "🙂‍↔️"]
MARKS = ["e\u0301", "n\u0303", "A\u030a", "o\u0308\u0304", "ö", "\u1e69", "s\u0323\u0307", "s\u0307\u0323",
         "가", "\u1100\u1161", "\u1100\u1161\u11a8", "Å", "Ω", "ﬁ", "ﷺ", "ẛ̣", "\u0344", "क\u093c", "\u0958",
         "\u0301", "a\u0300\u0301\u0302\u0303", "\u05d0\u05b7", "\u0627\u0653", "①", "²", "½", "Ⅷ", "㎏"]
NUMBERS = ["0", "7", "42", "123", "1234", "12345", "123456789", "3.14159", "1,234,567.89", "-17", "+5",
           "1e-10", "0x1F", "١٢٣", "१२३४", "１２３４", "五百", "Ⅻ", "½¾", "²³", "1st", "2nd", "a1b2c3", "v1.2.3",
           "99%", "$9.99", "€5", "10:30", "2024-01-31", "192.168.0.1", "𝟘𝟙", "౩", "৪৫"]
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|begin_of_text|>", "<|eot_id|>",
           "<|start_header_id|>", "<|end_header_id|>", "<|im_start|", "<|im_end|>>", "<|", "|>",
           "<|im_start |>", "<|IM_START|>", "<|endoftext", "<<|im_end|>", "<repo_name>", "<file_sep>",
           "<mask>", "[MASK]", "<unk>", "<s>", "</s>", "<|reserved_special_token_0|>", "foo_bar",
           "foo_barx", "xfoo_bar", "café!", "cafe\u0301!", "<tool_call>", "</tool_call>", "<filename>"]
INVALID = [b"\xff", b"\xc3", b"\xc3(", b"\xe2\x82", b"\xe2\x28\xa1", b"\xf0\x9f\x98", b"\xf0\x28\x8c\xbc",
           b"\xc0\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xf8\x88\x80\x80\x80", b"\x80\x80", b"\xe0\x80\x80",
           b"\xfe\xff", b"\xf0\x9f\x98\x80\x80", b"\xe2\x82\xac\xe2\x82", b"\xc2", b"\xef\xbf", b"\xf1\x80\x80"]

LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|"
          r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
QWEN2 = LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")


def words(rng):
    return rng.choice(SENTENCES).split()


def random_characters(rng, assigned):
    return "".join(chr(rng.choice(assigned)) for _ in range(rng.randint(1, 12)))


def mixture(rng, assigned):
    """Pieces of every kind next to each other."""
    kinds = [lambda: rng.choice(words(rng)), lambda: rng.choice(SPACES), lambda: rng.choice(EMOJI),
             lambda: rng.choice(MARKS), lambda: rng.choice(NUMBERS), lambda: rng.choice(SPECIAL),
             lambda: rng.choice(words(rng)) + rng.choice(CONTRACTIONS), lambda: rng.choice(CODE),
             lambda: rng.choice("!?.,;:-_=+*/\\|@#$%^&~`\"'()[]{}<>") * rng.randint(1, 6),
             lambda: random_characters(rng, assigned), lambda: " "]
    return "".join(rng.choice(kinds)() for _ in range(rng.randint(1, 9)))


def make_strings():
    rng = random.Random(20240607)
    # What Unicode 14 has, no surrogates: later tables agree on these.
    assigned = [c for c in range(0x110000) if unicodedata.category(chr(c)) not in ("Cn", "Cs", "Co")]
    strings = ["", " ", "a", "\n", "\0", "a" * 300, " " * 300, "\n" * 100, "ab" * 200, "é" * 50]
    for group in (SENTENCES, CODE, SPACES, EMOJI, MARKS, NUMBERS, SPECIAL):
        for text in group:
            strings += [text, " " + text, text + " ", text + text, "x" + text + "y"]
    for tail in CONTRACTIONS:
        strings += ["it" + tail, "IT" + tail + " ", " " + tail, "été" + tail + "5", "5" + tail]
    for text in SPECIAL:
        strings += [f"  {text}  ", f"a{text}b", f"\n{text}\n\n", f"{text} {text}", f"-{text}-"]
    strings += [random_characters(rng, assigned) for _ in range(250)]
    strings += [mixture(rng, assigned) for _ in range(750)]
    data = [s.encode() for s in strings]
    for bad in INVALID:
        data += [bad, b"a" + bad, bad + b" b", b"<|im_end|>" + bad + "é".encode(), bad * 3]
    for _ in range(100):
        text = bytearray(mixture(rng, assigned).encode())
        for _ in range(rng.randint(1, 4)):
            text[rng.randrange(len(text))] = rng.randrange(256)
        data.append(bytes(text))
    unique = list(dict.fromkeys(data))
    assert len(unique) >= 2000, len(unique)
    return unique


def corpus():
    for path in sorted(pathlib.Path("/usr/share/common-licenses").iterdir()):
        yield path.read_text(errors="replace")
    library = pathlib.Path(json.__file__).resolve().parent.parent
    for path in sorted(library.glob("*.py"))[:120]:
        yield path.read_text(errors="replace")
    for _ in range(40):
        yield "\n".join(SENTENCES + CODE)


def train(tokenizer, special):
    trainer = trainers.BpeTrainer(vocab_size=8192, special_tokens=special, show_progress=False,
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    tokenizer.train_from_iterator(corpus(), trainer)
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def gpt2():
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    train(tokenizer, ["<|endoftext|>"])
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    tokenizer.add_special_tokens([AddedToken("<mask>", lstrip=True), AddedToken("[MASK]", rstrip=True)])
    tokenizer.add_tokens([AddedToken("foo_bar", single_word=True), AddedToken("<tool_call>")])
    return tokenizer


def llama3():
    tokenizer = Tokenizer(models.BPE(ignore_merges=True))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(LLAMA3), "isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    train(tokenizer, [])
    special = ["<|begin_of_text|>", "<|end_of_text|>", "<|eot_id|>", "<|start_header_id|>",
               "<|end_header_id|>", "<|reserved_special_token_0|>"]
    tokenizer.add_special_tokens([AddedToken(text, normalized=False) for text in special])
    tokenizer.post_processor = processors.Sequence([
        processors.ByteLevel(trim_offsets=True),
        processors.TemplateProcessing(
            single="<|begin_of_text|> $A", pair="<|begin_of_text|> $A <|begin_of_text|> $B",
            special_tokens=[("<|begin_of_text|>", tokenizer.token_to_id("<|begin_of_text|>"))])])
    return tokenizer


def qwen2():
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(QWEN2), "isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    train(tokenizer, [])
    special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    tokenizer.add_special_tokens([AddedToken(text, normalized=False) for text in special])
    tokenizer.add_tokens([AddedToken("café!", normalized=True),
                          AddedToken("<tool_call>", normalized=False, lstrip=True, rstrip=True)])
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    return tokenizer


def smollm2(path):
    fields = GGUFReader(path).fields
    tokens = fields["tokenizer.ggml.tokens"].contents()
    types = [int(t) for t in fields["tokenizer.ggml.token_type"].contents()]
    merges = fields["tokenizer.ggml.merges"].contents()
    write("smollm2.vocab.json", json.dumps({"tokens": tokens, "types": types, "merges": merges},
                                           ensure_ascii=False, separators=(",", ":")).encode())
    pairs = [tuple(merge.split(" ", 1)) for merge in merges]
    tokenizer = Tokenizer(models.BPE(vocab={t: i for i, t in enumerate(tokens)}, merges=pairs))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Digits(individual_digits=True),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)])
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(t, normalized=False)
                                  for t, kind in zip(tokens, types) if kind == 3])
    return tokenizer


def write(name, data):
    (OUT / (name + ".gz")).write_bytes(gzip.compress(data, 9, mtime=0))


def pack(ids):
    return struct.pack(f"<I{len(ids)}H", len(ids), *ids)


def write_ids(name, tokenizer, strings):
    texts = [s.decode("utf-8", "replace") for s in strings]
    out = b"".join(pack(tokenizer.encode(text).ids) for text in texts)
    tokenizer.encode_special_tokens = True
    out += b"".join(pack(tokenizer.encode(text).ids) for text in texts if "<|" in text)
    tokenizer.encode_special_tokens = False
    write(name + ".ids.bin", out)


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    strings = make_strings()
    write("strings.bin", b"".join(struct.pack("<I", len(s)) + s for s in strings))
    made = {"smollm2": smollm2(sys.argv[1]), "gpt2": gpt2(), "llama3": llama3(), "qwen2": qwen2()}
    for name, tokenizer in made.items():
        write_ids(name, tokenizer, strings)
        if name != "smollm2":
            text = json.dumps(json.loads(tokenizer.to_str()), ensure_ascii=False,
                              separators=(",", ":"))
            write(name + ".tokenizer.json", text.encode())
        print(name, tokenizer.get_vocab_size(), "tokens")
    print(len(strings), "strings,", sum(f.stat().st_size for f in OUT.iterdir()), "bytes")


if __name__ == "__main__":
    main()
