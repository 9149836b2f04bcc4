"""Function words of languages other than English: articles, pronouns, prepositions, auxiliaries, question words.

By them a language is known, and they are no search terms. Closed classes only: words that carry meaning are left to
their rarity, which any ranking takes into account.
"""

from __future__ import annotations

FUNCTION_WORDS: dict[str, frozenset[str]] = {
    language: frozenset(words.casefold().split())
    for language, words in {
        "de": """der die das den dem des ein eine einen einem einer eines und oder aber nicht auch noch nur ich du er
            sie es wir ihr ihn ihm ihnen uns euch mein meine sein seine seiner seinem seinen ihre ihrer ihrem ihren
            unser unsere ist sind war waren wird werden wurde wurden worden hat haben hatte hatten kann können darf
            dürfen muss müssen soll sollen will wollen in im an am auf aus bei beim mit nach von vom zu zum zur für
            über unter um durch gegen ohne zwischen vor bis als wie wenn dass daß weil ob denn man sich dieser diese
            dieses diesem diesen jeder jede jedes jedem jeden welche welcher welches welchem welchen wer wem wen
            wessen was wann wo woher wohin warum wieso weshalb wofür womit worauf wodurch woran wovon wozu gibt es
            hier da dort dann so sehr ins ans zum aufs fürs wegen während seit bereits etwa kein keine keinen keinem
            keiner""",
        "fr": """le la les un une des du de d l et ou mais où donc or ni car ne pas plus que qui quoi dont quel quelle
            quels quelles quand comment pourquoi combien je tu il elle on nous vous ils elles me te se lui leur leurs
            mon ma mes ton ta tes son sa ses notre nos votre vos ce cet cette ces c s j m n t qu est sont était
            étaient être été sera seront a ont avait avaient avoir au aux à dans en par pour sur sous avec sans entre
            vers chez si y comme aussi très peut peuvent doit doivent fait lors lorsque""",
        "es": """el la los las un una unos unas y e o u pero ni que quien quién quienes quiénes cual cuál cuales
            cuáles qué cuando cuándo cuanto cuánto cuánta cuántos cuántas donde dónde adónde como cómo por para porque
            de del a al en con sin sobre entre desde hasta hacia según se su sus lo le les me te nos mi mis tu tus yo
            él ella ellos ellas usted ustedes nosotros este esta esto estos estas ese esa eso esos esas aquel aquella
            es son era eran fue fueron ser sido está están estaba han ha había haber hay puede pueden debe deben no sí
            si ya muy más también cada""",
        "it": """il lo la i gli le un uno una l d e ed o ma né che chi cui quale quali quando quanto quanta quanti
            quante dove come perché cosa di del dello della dei degli delle a ad al allo alla ai agli alle da dal
            dallo dalla dai dagli dalle in nel nello nella nei negli nelle con su sul sulla sui sugli sulle per tra
            fra si se non io tu lui lei noi voi loro mi ti ci vi ne suo sua suoi sue mio mia questo questa questi
            queste quello quella quelli quelle è sono era erano essere stato stata fu ha hanno aveva avere può possono
            deve devono anche più molto ogni""",
        "pt": """o a os as um uma uns umas e ou mas nem que quem qual quais quando quanto quanta quantos quantas onde
            como porque por para de do da dos das em no na nos nas num numa ao aos à às pelo pela pelos pelas com sem
            sobre entre desde até se seu sua seus suas lhe lhes me te eu tu ele ela eles elas nós você vocês meu minha
            este esta isto estes estas esse essa isso aquele aquela é são era eram foi foram ser sido está estão
            estava tem têm tinha ter há pode podem deve devem não sim já muito mais também cada""",
        "nl": """de het een en of maar niet ook nog ik jij je u hij zij ze wij we hen hun hem haar mijn zijn ons onze
            dit dat deze die is was waren wordt worden werd werden heeft hebben had hadden kan kunnen mag mogen moet
            moeten zal zullen in op aan bij met naar van voor over onder om door tegen zonder tussen uit tot als dan
            toen er hier daar te wie wat wanneer waar waarom hoe hoeveel welke welk waarvoor waarmee geen zich""",
        "sv": """en ett den det de och eller men inte också jag du han hon vi ni man sig sin sitt sina mig dig honom
            henne oss er dem min mitt mina din hans hennes vår deras denna detta dessa är var vara varit blir blev har
            hade ha kan kunde får fick ska skall skulle måste i på av till från med om för under över mellan efter vid
            utan mot som att när där här hur vad vem vilken vilket vilka varför vart hur många så då än""",
        "da": """en et den det de og eller men ikke også jeg du han hun vi i man sig sin sit sine mig dig ham hende os
            jer dem min mit mine din hans hendes vores deres denne dette disse er var være været bliver blev har havde
            have kan kunne må skal skulle vil ville på af til fra med om for under over mellem efter ved uden mod som
            at når hvor her der hvordan hvad hvem hvilken hvilket hvilke hvorfor hvornår så da end""",
        "no": """en ei et den det de og eller men ikke også jeg du han hun vi dere man seg sin sitt sine meg deg ham
            henne oss dem min mitt mine din hans hennes vår deres denne dette disse er var være vært blir ble har
            hadde ha kan kunne må skal skulle vil ville i på av til fra med om for under over mellom etter ved uten
            mot som at når hvor her der hvordan hva hvem hvilken hvilket hvilke hvorfor så da enn""",
        "fi": """ja tai mutta ei eivät en et emme ette myös minä sinä hän me te he se ne tämä tuo nämä nuo on ovat oli
            olivat olla ollut ole voi voivat pitää saa että jos kun kuin koska mikä mitä mitkä kuka ketä kenen milloin
            missä mistä mihin miksi miten kuinka monta paljon joka jotka jonka jota sen sitä hänen niiden heidän tämän
            kanssa ennen jälkeen mukaan""",
        "pl": """i a w we z ze na do od dla po przy przez pod nad o u za bez między oraz lub albo ale nie tak też że
            aby żeby się jest są był była było były być został została ma mają może mogą można musi ja ty on ona ono
            my wy oni one go jego jej ich im mu mnie ten ta to te tego tej tych tym który która które których którym
            kto co czego kiedy gdzie skąd dokąd dlaczego jak jaki jaka jakie ile czy już jako""",
        "cs": """a i v ve z ze na do od pro po při přes pod nad o u za bez mezi nebo ale ne také že aby se si je jsou
            byl byla bylo byli být má mají může mohou musí já ty on ona ono my vy oni ho jeho její jejich jim mu mě
            ten ta to ti tato tento toto těch který která které kteří kdo co čeho kdy kde odkud kam proč jak jaký jaká
            jaké kolik zda již jako""",
        "ro": """un o și sau dar nu că să se este sunt era erau fi fost are au avea poate pot trebuie în la de din pe
            cu fără pentru prin între despre după până spre al ai ale a lui ei lor el ea noi voi eu tu îi îl le mai ce
            care cine cui când unde cum cât câtă câți câte dacă acest această acești aceste cel cea cei cele""",
        "hu": """a az egy és vagy de nem is hogy ha mert mint csak van vannak volt voltak lesz lehet kell én te ő mi
            ti ők ez ezt azt ezek azok ki kit mit mely melyik milyen mikor hol honnan hova hová miért hogyan hány
            mennyi meg el le fel be minden amely amelyek aki akik között után előtt alatt szerint által""",
        "tr": """ve veya ya da ama fakat ile için gibi kadar göre sonra önce bir bu şu o bunlar onlar ben sen biz siz
            onun bunun onu bunu değil var yok olan olarak oldu olduğu mı mi mu mü ne neden niçin nasıl nerede nereye
            nereden kim kimin kime hangi kaç zaman daha çok en her de ki ise""",
        "ca": """el la els les un una uns unes l d s n i o però ni que qui quin quina quins quines quan quant quanta
            quants on com per què perquè de del dels a al als en amb sense sobre entre des fins segons es seu seva
            seus seves ho li em et ens jo tu ell ella ells elles aquest aquesta aquests aquestes aquell és són era
            eren ser estat està estan ha han havia hi pot poden deu no sí si ja molt més també cada""",
        "id": """yang dan atau tetapi tidak di ke dari pada untuk dengan oleh dalam antara tentang sebagai adalah
            ialah ini itu saya aku kamu anda dia ia kami kita mereka nya ada akan telah sudah sedang dapat bisa harus
            apa siapa kapan mana bagaimana mengapa berapa karena jika bahwa juga lebih para setiap""",
        "vi": """và hoặc nhưng không của là các những một cho với trong trên dưới từ đến được bị có này đó kia tôi bạn
            anh chị họ chúng ta nó ai gì nào đâu khi sao bao nhiêu như thế vì nếu thì mà cũng đã đang sẽ phải""",
        "ru": """и а но или да не ни что чтобы как если когда где куда откуда почему зачем кто кого кому кем чем чего
            чему какой какая какое какие каких каким какого какую какой сколько который которая которое которые
            которых ли же бы в во на с со к ко у о об от до по из за для при через под над без между перед после около
            я ты он она оно мы вы они его её ее ему ей их им нас вас нам вам мне меня мой моя наш ваш свой свои своих
            это этот эта эти этого этой этих тот та те того той тех был была было были быть есть будет будут может
            могут можно нужно надо так также уже еще ещё только всего весь все всё""",
        "uk": """і й та а але або чи не ні що щоб як якщо коли де куди звідки чому навіщо хто кого кому чим чого який
            яка яке які яких яким якого яку скільки котрий в у на з із зі до від по за для при через під над без між
            перед після про я ти він вона воно ми ви вони його її йому їй їх їм нас вас нам вам мене мій наш ваш свій
            свої це цей ця ці цього цієї цих той те ті того тієї тих був була було були бути є буде будуть може можуть
            можна треба так також вже ще лише""",
        "bg": """и а но или да не ни че ако как кога къде защо кой коя кое кои какво какъв каква какви колко ли в във
            на с със към у за от до по из при през под над без между пред след около аз ти той тя то ние вие те го я
            му ѝ им ги си се това този тази тези онзи е са съм беше бяха бил била било били бъде ще може могат трябва
            също още само""",
        "sr": """и а али или да не ни што како ако када где куда одакле зашто ко кога коме који која које којих колико
            ли у на са с к о од до по из за при кроз под над без између пре после око ја ти он она оно ми ви они га му
            јој им их се је су сам био била било били бити ће може могу треба ово овај ова ови тај та те то такође још
            само""",
        "ar": """في من على إلى الى عن مع بين حتى منذ عند لدى بعد قبل خلال دون غير كل بعض أي اي أن ان إن أنه أنها إنه
            لأن لان لكن أو او ثم بل لا لم لن ليس ليست ما ماذا لماذا متى أين اين كيف كم من هل مَن فيم بم هو هي هم هن
            أنا انا نحن أنت انت هذا هذه ذلك تلك هؤلاء الذي التي الذين اللذين اللواتي كان كانت كانوا يكون تكون قد سوف
            كما إذا اذا حيث عليه عليها فيه فيها منه منها به بها له لها لهم إليه إليها وهو وهي""",
        "fa": """و یا اما ولی که را از به در با بر برای تا بی بین پس پیش روی زیر این آن اینها آنها من تو او ما شما
            ایشان است هست هستند بود بودند شد شده شدند می نمی خواهد باید هر همه هیچ نیز هم اگر چون چه چی کی کجا چرا
            چگونه چند چطور کدام آیا""",
        "el": """ο η το οι τα του της των τον την τους τις ένας μια μία ένα και κι ή αλλά ούτε δεν δε μη μην να θα ας
            ότι που πως πώς όταν πότε πού γιατί ποιος ποια ποιο ποιοι ποιες πόσο πόσα πόσοι πόσες τι αν σε στο στη
            στην στον στους στις στα από με για χωρίς μεταξύ πριν μετά κατά προς εγώ εσύ αυτός αυτή αυτό αυτοί αυτά
            μου σου μας σας είναι ήταν έχει έχουν είχε μπορεί πρέπει""",
        "he": """של את על אל עם בין עד מן מ לא או אבל גם כי אם אני אתה את הוא היא אנחנו אתם הם הן זה זו זאת אלה אלו
            היה הייתה היו יהיה יש אין כל מה מי מתי איפה היכן לאן מאין למה מדוע איך כיצד כמה איזה איזו אילו אשר לפני
            אחרי שלו שלה שלהם לו לה להם בו בה""",
        "hi": """का के की को से में पर ने और या लेकिन नहीं न भी ही तो कि जो यह वह ये वे इस उस इन उन मैं तुम आप हम है
            हैं था थी थे हो होता होती होते गया गई गए कर करने लिए साथ तक बाद पहले क्या कौन कब कहाँ कहां क्यों कैसे
            कितना कितने कितनी किस किसने एक""",
    }.items()
}
"""By ISO 639-1; case folded, accents kept."""
