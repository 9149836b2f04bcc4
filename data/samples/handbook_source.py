"""The words of the sample handbook. "# " begins a chapter, "## " a section, "|" a row of a table, "- " a list item.

Everything in it is invented: islands, ships, people and figures.
"""

TITLE = "Handbook of the Veyra Ferry"
SUBTITLE = "Fourth edition, in force from 1 March 2024"
AUTHOR = "Veyra Ferry Company"

FRONT = """
# About this handbook
This handbook tells the crews, the shore staff and the agents of the Veyra Ferry how the line is run. It replaces the
third edition of 2017. The most important changes are the lower wind limit for the Tern, the new fares, and the
charging of the Tern's batteries from the shore at Tolsund.

The handbook is kept by the marine superintendent, Ingrid Solhaug, at the company's office at 4 Quay Street, Veyra
Harbour. Whoever finds a mistake writes to her; corrections are printed twice a year, in April and in October. A copy
lies on the bridge of each ship and in the ticket office of each harbour, and a loose sheet never replaces a page of it.

Where the handbook says "must", there is no choice. Where it says "should", the master may decide otherwise and enters
the reason in the log. Times are local time; distances are in nautical miles, and wind is the mean of ten minutes in
metres per second, measured at the station on Gannet Skerry.

## How to find things
Chapters 1 to 3 describe the line, its people and its timetable. Chapters 4 to 6 hold what keeps people safe: weather,
cargo and drills. Chapters 7 to 9 are about keeping the ships running, and about passengers. Chapter 10 explains the
words of the trade and tells how the line came to be.
"""

BODY = """
# 1 The line and its ships
The Veyra Ferry joins four harbours: Veyra Harbour on the main island, Tolsund to the north, Little Marn to the east,
and the mainland port of Aldhaven. The whole round is 31 nautical miles. The longest crossing is the one from Aldhaven
to Veyra Harbour, 14 nautical miles, which takes 70 minutes; the shortest is from Veyra Harbour to Little Marn,
3 nautical miles in 20 minutes.

## The Halcyon
The Halcyon is the larger ship. She was built at Brevik Yard in 1998 and lengthened by 9 metres in 2011. She is 62
metres long, draws 3.4 metres, and carries 280 passengers and 34 cars. Two diesel engines of 1,100 kilowatts each give
her a service speed of 13 knots.

## The Tern
The Tern is the smaller ship and the newer one, delivered on 9 May 2021. She is 38 metres long, draws 2.1 metres, and
carries 120 passengers and 10 cars. She runs on batteries of 1,800 kilowatt-hours, which are enough for 24 nautical
miles at 10 knots, and has one diesel generator of 400 kilowatts in reserve.

## The spare ship
From 15 January to the end of February, when the Halcyon is in dock, the company charters the Petrel from the Aldhaven
Pilots. The Petrel carries 90 passengers and no cars. Freight that cannot wait goes with the barge Marta on Tuesdays.

# 2 Crews and watches
The Halcyon sails with a crew of nine, the Tern with a crew of five. On each ship one of them is the master, one the
mate and one the engineer. No ship leaves the quay with fewer: a missing hand must be replaced, or the sailing is
cancelled and the office told by telephone.

## Watches
A watch lasts six hours on the Halcyon and eight hours on the Tern. Nobody works more than twelve hours in twenty-four,
and everyone has at least ten hours of rest, six of them unbroken. The engineer of the Tern begins one hour before the
first sailing, so that the batteries can be taken off the shore supply and tested.

## Papers
Masters need a certificate of class 4 or higher. Every member of a crew must hold a medical certificate not older than
two years and must have passed the company's island course, which takes three days and is given each September at
Tolsund. The course ends with a test in the dark: launching a boat without lights.

## Relief and leave
Crews change on Thursdays at 13:30 at Veyra Harbour. Two weeks aboard are followed by two weeks at home. The list of
reliefs is kept by the crewing clerk, Pavel Orban, who can be reached on extension 27 between 07:00 and 15:00.

# 3 Timetable and fares
The summer timetable holds from 1 May to 30 September, the winter timetable for the rest of the year. In summer the
Halcyon makes four return crossings a day between Aldhaven and Veyra Harbour, in winter two. The Tern serves Tolsund
and Little Marn six times a day all year, but not on 25 December.

The first sailing from Veyra Harbour leaves at 06:10 and the last one from Aldhaven at 21:45. Boarding closes ten
minutes before the time of leaving for cars and four minutes for people on foot.

## Fares
| From or to Aldhaven | Veyra Harbour | Tolsund | Little Marn |
| Adult | 12.40 | 15.80 | 14.60 |
| Child of 5 to 15 years | 6.20 | 7.90 | 7.30 |
| Bicycle | 3.00 | 3.00 | 3.00 |
| Car up to 5 metres, with driver | 41.00 | 52.50 | not carried |
| Islander's card, one month | 96.00 | 118.00 | 104.00 |

Fares are in crowns. Children under five travel free. Dogs travel free but must be on a lead, and stay off the seats.
Between the islands a single fare of 4.80 crowns holds for everyone, whatever the distance.

## Refunds
A ticket is refunded in full when a sailing is cancelled or leaves more than 90 minutes late. Who stays ashore by
choice gets back 80 per cent until one day before, and nothing afterwards. Refunds are paid within fourteen days.

# 4 Weather limits
The master decides whether a ship sails. No one ashore may press a master to sail, and a master who stays in harbour
is never asked to make up the time. The limits below are the most that is allowed, not what must be borne.

## Wind and sea
| Ship | Mean wind, m/s | Gusts, m/s | Wave height, m |
| Halcyon | 20 | 27 | 3.5 |
| Tern | 14 | 19 | 1.8 |
| Petrel | 16 | 22 | 2.2 |

The Tern's limit was lowered from 16 to 14 metres per second after the grounding off Little Marn on 3 October 2022. In
that accident nobody was hurt, but the port propeller was lost and the ship was out of service for 41 days.

## Fog
With less than 500 metres of visibility ships go at no more than 7 knots and keep a lookout at the bow. Below 150
metres no ship leaves harbour. The fog signal on Gannet Skerry sounds two blasts every 30 seconds and is switched on by
the harbour office when visibility falls below one mile.

## Ice
Ice in the Tolsund channel is broken by the tug Bjarka. When the ice is thicker than 12 centimetres the Tern does not
sail, because her hull is of aluminium. The Halcyon has ice class 1C and may go on to 40 centimetres.

# 5 Loading and cargo
The mate answers for loading. Heavy vehicles stand in the middle lanes, motorcycles are tied down on both sides, and
nobody remains in a car during the crossing. The car deck is locked from casting off until the ship is made fast.

## Weights
The Halcyon's car deck bears 13 tonnes on an axle and 190 tonnes in all; the Tern's bears 6 tonnes on an axle and 32
tonnes in all. A vehicle over 3.5 tonnes is weighed on the quay. The bow thruster of the Halcyon must not be used while
the ramp is down.

## Dangerous goods
Dangerous goods are announced 24 hours before and are carried only on the first sailing on Wednesdays, with no more
than 25 other passengers aboard. Petrol in cans is limited to 20 litres for each vehicle. Explosives are never carried;
the quarry at Tolsund gets them with the barge Marta, under guard of the coast watch.

## Animals
Cattle and sheep travel in trailers, at most 18 sheep in each. In spring, from 20 April to 10 May, one sailing a week
is kept for the flocks that go out to the summer pasture on Little Marn. The deck is hosed down afterwards, and the
company charges 35 crowns for it.

# 6 Safety and drills
Before each sailing the safety notice is read in the saloon or shown on the screens. Life jackets for children lie in
the red lockers beside the stairs: 40 of them on the Halcyon and 18 on the Tern.

## Drills
A fire drill is held every week and a boat drill every two weeks. Once every three months the crew practises the rescue
of a person from the water, with the dummy that is called Old Nils. The best time so far, 4 minutes and 12 seconds, was
reached by the crew of the Tern on 18 June 2023.

## Alarms
- Seven short blasts and one long blast: everyone goes to the assembly stations.
- One long ring of the bell for ten seconds: fire; the crew goes to the fire stations.
- Three long blasts: a person is in the water.
The assembly stations of the Halcyon are the saloon and the after deck; that of the Tern is the fore deck.

## Batteries on fire
A fire in the Tern's battery room is never fought with water from hoses. The room is closed, the ventilators are
stopped, and the fixed gas is let in from the box outside the wheelhouse, which takes 25 seconds to fill the room.
Nobody opens the door for at least four hours, and then only the fire brigade of Aldhaven.

# 7 Maintenance
The Halcyon goes into the dock at Brevik Yard every January for five weeks. The Tern is lifted out of the water at
Tolsund for six days, each year in the second week of November, because her timetable is thinnest then.

## Intervals
| Work | Halcyon | Tern |
| Change of engine oil | 500 hours | 750 hours |
| Inspection of propellers | 12 months | 6 months |
| Test of the emergency generator | 1 week | 1 week |
| Cleaning of sea chests | 3 months | 2 months |
| Painting of the hull | 24 months | 36 months |

Whoever finds a defect enters it in the green book. A defect marked A stops the ship; one marked B must be mended
within 72 hours; one marked C waits for the next docking. In 2023 there were 3 defects of class A, 47 of class B and
212 of class C.

## Spare parts
The store at Veyra Harbour keeps one propeller blade, two fuel pumps and twelve hatch seals for the Halcyon, and two
battery modules for the Tern. A new module takes eleven weeks to be delivered. The storekeeper is Agnes Tveit.

# 8 Fuel and energy
The Halcyon burns 210 litres of diesel an hour at service speed and takes on fuel at Aldhaven on Mondays and Fridays,
after the last sailing. Her tanks hold 36,000 litres. Smoking and telephones are forbidden on deck while the hose is
connected.

## Charging the Tern
The Tern is charged at night at Veyra Harbour, from 22:30 to 05:00, with 300 kilowatts, and since February 2024 also
during her stops at Tolsund, with 900 kilowatts. The plug at Tolsund is joined by an arm and needs no hand; it lets go
by itself when the ship moves more than 60 centimetres. A stop of nine minutes gives 130 kilowatt-hours.

Batteries should stay between 20 and 90 per cent. Below 15 per cent the generator is started. If the shore supply fails
the harbour electrician, Jonas Reke, is called at any hour.

## What it costs
In 2023 the Halcyon used 1,460,000 litres of diesel and the Tern 890,000 kilowatt-hours of electricity. A crossing of
the Tern costs 38 crowns of energy, against 112 crowns for the small ship Skua that she replaced.

# 9 Passengers
Complaints are answered in writing within ten working days by the passenger office. In 2023 the line carried 412,000
passengers and 58,300 cars; 96.8 per cent of the sailings left within five minutes of their time.

## People who need help
Wheelchairs can board both ships at every state of the tide but one: at Little Marn the ramp is too steep within 90
minutes of low water at spring tides. Help is free and is asked for by telephone two hours before. There are four
places for wheelchairs on the Halcyon and two on the Tern.

## Lost things
What is found aboard goes to the ticket office at Veyra Harbour and is kept for 60 days. Food is thrown away on the same
evening. The strangest find was a barometer of 1887, which nobody claimed and which hangs in the saloon of the Halcyon.

## The sick
The ships carry a defibrillator beside the purser's window. A doctor is called through the coast watch on channel 16.
A patient with a stretcher goes before all other traffic, and the ship may leave up to 30 minutes early for one.

# 10 Words and history
## Words
- Spring tide: the time around new and full moon, when the water rises and falls the most, here by 3.9 metres.
- Sea chest: the opening in the hull through which cooling water is taken in.
- Lay day: a day on which a ship is meant to stay in harbour and none of her crew is on watch.
- Islander's card: a ticket for those who live on Veyra, Tolsund or Little Marn, given for a month.
- Old hand: someone with more than 25 years on the line; at present there are six of them.

## History
The first boat of the line was the sailing packet Dagny, which carried mail from 1874 on, twice a week in summer. Steam
came with the Skarv in 1902. The company in its present form was founded on 11 April 1951 by the three island parishes,
which still own it: Veyra holds 52 per cent, Tolsund 31 per cent and Little Marn 17 per cent.

In the winter of 1963 the sound froze for 39 days, and mail was drawn across the ice on sledges. The first car came
ashore at Veyra in 1968; it belonged to the midwife, Solveig Aas. Since 1998 no sailing has been lost for want of a
crew.
"""
