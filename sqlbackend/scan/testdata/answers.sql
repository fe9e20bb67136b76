-- Queries over the tables of TestAnswers with the answers of MySQL 8.4. All but those marked in the test were checked
-- against MariaDB 10.11; columns are separated by commas.

select k, sum(d) over (order by k), sum(d) over (order by k rows between 1 preceding and current row), sum(d) over () from t order by k;
-- > 1,1.10,1.10,100000006.36
-- > 2,3.30,3.30,100000006.36
-- > 3,6.60,5.50,100000006.36
-- > 4,7.61,4.31,100000006.36
-- > 5,7.61,1.01,100000006.36
-- > 6,6.36,-1.25,100000006.36
-- > 7,100000006.35,99999998.74,100000006.36
-- > 8,100000006.36,100000000.00,100000006.36

select k, sum(i) over (order by i), avg(i) over (order by i), count(i) over (order by i), min(i) over (order by i), max(b) over (order by i) from t order by k;
-- > 1,1,1.0000,1,1,10
-- > 2,3,1.5000,2,1,20
-- > 3,9,2.2500,4,1,30
-- > 4,9,2.2500,4,1,30
-- > 5,NULL,NULL,0,NULL,NULL
-- > 6,23,3.8333,6,1,30
-- > 7,23,3.8333,6,1,30
-- > 8,31,4.4286,7,1,30

select k, last_value(k) over (order by i), first_value(k) over (order by i), last_value(k) over (order by i rows between unbounded preceding and unbounded following) from t where k not in (3,6) order by k;
-- > 1,1,5,8
-- > 2,2,5,8
-- > 4,4,5,8
-- > 5,5,5,8
-- > 7,7,5,8
-- > 8,8,5,8

select k, nth_value(k,2) over (order by k), nth_value(k,2) over (order by k desc), cume_dist() over (order by i), percent_rank() over (order by i), ntile(3) over (order by k) from t order by k;
-- > 1,NULL,7,0.25,0.14285714285714285,1
-- > 2,2,7,0.375,0.2857142857142857,1
-- > 3,2,7,0.625,0.42857142857142855,1
-- > 4,2,7,0.625,0.42857142857142855,2
-- > 5,2,7,0.125,0,2
-- > 6,2,7,0.875,0.7142857142857143,2
-- > 7,2,7,0.875,0.7142857142857143,3
-- > 8,2,NULL,1,1,3

select k, row_number() over (partition by s order by k), rank() over (partition by s order by k), dense_rank() over (order by s) from t order by k;
-- > 1,1,1,2
-- > 2,2,2,2
-- > 3,1,1,3
-- > 4,2,2,3
-- > 5,1,1,1
-- > 6,3,3,2
-- > 7,1,1,4
-- > 8,2,2,4

select k, lag(k) over (order by k), lag(k,2) over (order by k), lead(k,2) over (order by k), lead(s) over (partition by g order by k) from t order by k;
-- > 1,NULL,NULL,3,A
-- > 2,1,NULL,4,NULL
-- > 3,2,1,5,B
-- > 4,3,2,6,NULL
-- > 5,4,3,7,NULL
-- > 6,5,4,8,c
-- > 7,6,5,NULL,C
-- > 8,7,6,NULL,NULL

select k, sum(i) over w, count(*) over w, sum(i) over (w rows between 1 preceding and 1 following) from t window w as (partition by g order by k) order by k;
-- > 1,1,1,3
-- > 2,3,2,3
-- > 3,3,1,6
-- > 4,6,2,6
-- > 5,6,3,3
-- > 6,7,1,14
-- > 7,14,2,22
-- > 8,22,3,15

select k, sum(i) over (w1 order by k) from t window w1 as (partition by g) order by k;
-- > 1,1
-- > 2,3
-- > 3,3
-- > 4,6
-- > 5,6
-- > 6,7
-- > 7,14
-- > 8,22

select k, sum(i) over (order by i range between 1 preceding and 1 following), count(*) over (order by i range between 2 preceding and 1 preceding) from t order by k;
-- > 1,3,0
-- > 2,9,1
-- > 3,8,2
-- > 4,8,2
-- > 5,NULL,1
-- > 6,22,0
-- > 7,22,0
-- > 8,22,2

select k, bit_or(i) over (order by k), bit_and(i) over (order by k), bit_xor(i) over (order by k), std(i) over (order by k), var_samp(i) over (order by k) from t order by k;
-- > 1,1,1,1,0,NULL
-- > 2,3,0,3,0.5,0.5
-- > 3,3,0,0,0.816496580927726,1
-- > 4,3,0,3,0.82915619758885,0.9166666666666666
-- > 5,3,0,3,0.82915619758885,0.9166666666666666
-- > 6,7,0,4,2.039607805437114,5.2
-- > 7,7,0,3,2.3392781412696997,6.5666666666666655
-- > 8,15,0,11,2.610809554642438,7.952380952380952

select k, sum(i) over (order by g desc, k) x from t order by x, k;
-- > 6,7
-- > 7,14
-- > 8,22
-- > 3,25
-- > 4,28
-- > 5,28
-- > 1,29
-- > 2,31

select * from (select k, row_number() over (partition by g order by k desc) rn from t) q where rn=1 order by k;
-- > 2,1
-- > 5,1
-- > 8,1

select k, count(distinct s) from t group by k order by k;
-- > 1,1
-- > 2,1
-- > 3,1
-- > 4,1
-- > 5,0
-- > 6,1
-- > 7,1
-- > 8,1

select count(distinct s), count(distinct g, s), sum(distinct i), avg(distinct d), count(distinct d), group_concat(distinct s order by s), group_concat(s order by k desc separator '-') from t;
-- > 3,4,21,14285715.194286,7,a,b,c,C-c-á-B-b-A-a

select g, group_concat(e order by k), group_concat(distinct e order by e desc) from t group by g order by g;
-- > 1,x,y,y,x
-- > 2,x,,x,
-- > 3,z,y,q,z,y,q

select group_concat(e) from t where k=4;
-- > 

select distinct s from t where k<>6 order by s;
-- > NULL
-- > a
-- > b
-- > c

select s from t where k < 4 union select 'ABC' union select 'abc' order by 1;
-- > a
-- > ABC
-- > b

select s from t where k=1 union select 'A';
-- > a

select 'a' union all select 'A';
-- > a
-- > A

select s from t except select 'B';
-- > a
-- > NULL
-- > c

select s from t intersect select 'b';
-- > b

select s from t where k<3 except select 'x';
-- > a

select k from t where s in ('A','zz') order by k;
-- > 1
-- > 2
-- > 6

select k from t where s in ('A', null) order by k;
-- > 1
-- > 2
-- > 6

select k from t where s not in ('A','b') order by k;
-- > 7
-- > 8

select k from t where (g, s) in ((1,'A'),(2,'B')) order by k;
-- > 1
-- > 2
-- > 3
-- > 4

select k, s in ('A','C') from t order by k;
-- > 1,1
-- > 2,1
-- > 3,0
-- > 4,0
-- > 5,NULL
-- > 6,1
-- > 7,1
-- > 8,1

select count(*) from t a join t b on a.s=b.s where a.s in ('A');
-- > 9

select case when s in ('A') then 1 else 0 end, count(*) from t group by 1 order by 1;
-- > 0,5
-- > 1,3

select g, sum(d), avg(d), sum(i), avg(i), sum(b), avg(b) from t group by g order by g;
-- > 1,3.30,1.650000,3,1.5000,30,15.0000
-- > 2,4.31,2.155000,6,3.0000,60,30.0000
-- > 3,99999998.75,33333332.916667,22,7.3333,12,4.0000

select sum(f), avg(f), sum(s), avg(s) from t where k in (1,2,6);
-- > 4.125,1.375,0,0

select g, sum(d) x from t group by g having x > 2 order by x desc;
-- > 3,99999998.75
-- > 2,4.31
-- > 1,3.30

select g from t group by g order by sum(d) desc;
-- > 3
-- > 2
-- > 1

select sum(x) from (select sum(d) x from t group by g) q;
-- > 100000006.36

select (select sum(d) from t u where u.g=t.g) from t order by k;
-- > 3.30
-- > 3.30
-- > 4.31
-- > 4.31
-- > 4.31
-- > 99999998.75
-- > 99999998.75
-- > 99999998.75

select if(sum(d)>1, sum(d), 0), coalesce(sum(d),0), round(avg(d),1), cast(sum(d) as char), ifnull(sum(d), 0) from t;
-- > 100000006.36,100000006.36,14285715.2,100000006.36,100000006.36

select count(*), sum(d), max(d), avg(i) from t where 1=0;
-- > 0,NULL,NULL,NULL

select sum(1), sum(1.5), avg(1), sum(null), avg(null), sum('3x'), sum(true) from t;
-- > 8,12.0,1.0000,NULL,NULL,24,8

select s, count(*) from t group by s order by s;
-- > NULL,1
-- > a,3
-- > b,2
-- > c,2

select max(s), min(s) from t where k<>6;
-- > c,a

select count(distinct f), count(distinct dt) from t;
-- > 7,5

select k from t order by s, k;
-- > 5
-- > 1
-- > 2
-- > 6
-- > 3
-- > 4
-- > 7
-- > 8

select k, sum(k) over (order by dt range between interval 1 day preceding and current row) from t order by k;
-- > 1,1
-- > 2,6
-- > 3,6
-- > 4,4
-- > 5,5
-- > 6,6
-- > 7,15
-- > 8,15

select k, sum(k) over (order by dt desc range between interval 3 day preceding and interval 1 day following) from t order by k;
-- > 1,6
-- > 2,10
-- > 3,10
-- > 4,4
-- > 5,5
-- > 6,21
-- > 7,15
-- > 8,15

select g, count(*) c, rank() over (order by count(*) desc) from t group by g order by g;
-- > 1,2,3
-- > 2,3,1
-- > 3,3,1

select g, sum(sum(i)) over (order by g) from t group by g order by g;
-- > 1,3
-- > 2,9
-- > 3,31

select k, sum(i) over (order by k) + 1 as z, 'x' from t where k < 4 order by z;
-- > 1,2,x
-- > 2,4,x
-- > 3,7,x

select k, sum(i) over (partition by g) / sum(i) over () from t order by k;
-- > 1,0.0968
-- > 2,0.0968
-- > 3,0.1935
-- > 4,0.1935
-- > 5,0.1935
-- > 6,0.7097
-- > 7,0.7097
-- > 8,0.7097

select k, first_value(s) over (partition by g order by k rows between unbounded preceding and unbounded following), last_value(d) over (partition by g order by k rows between current row and unbounded following) from t order by k;
-- > 1,a,2.20
-- > 2,a,2.20
-- > 3,b,NULL
-- > 4,b,NULL
-- > 5,b,NULL
-- > 6,á,0.01
-- > 7,á,0.01
-- > 8,á,0.01

select k, ntile(4) over (partition by g order by k) from t order by k;
-- > 1,1
-- > 2,2
-- > 3,1
-- > 4,2
-- > 5,3
-- > 6,1
-- > 7,2
-- > 8,3

select k, json_arrayagg(i) over (order by k rows between 1 preceding and current row) from t order by k;
-- > 1,[1]
-- > 2,[1, 2]
-- > 3,[2, 3]
-- > 4,[3, 3]
-- > 5,[3, null]
-- > 6,[null, 7]
-- > 7,[7, 7]
-- > 8,[7, 8]

select avg(x) from (select k, lag(k,1,0) over (order by k) x from t) q;
-- > 3.5000

select k, lag(k,1,'zz') over (order by k) from t order by k;
-- > 1,zz
-- > 2,1
-- > 3,2
-- > 4,3
-- > 5,4
-- > 6,5
-- > 7,6
-- > 8,7

select s collate utf8mb4_bin x, count(*) from t group by x order by x;
-- > NULL,1
-- > A,1
-- > B,1
-- > C,1
-- > a,1
-- > b,1
-- > c,1
-- > á,1

select k, count(*) over (partition by s collate utf8mb4_bin) from t order by k;
-- > 1,1
-- > 2,1
-- > 3,1
-- > 4,1
-- > 5,1
-- > 6,1
-- > 7,1
-- > 8,1

select addtime(dt, '25:00:00') from t where k=1;
-- > 2020-01-02 01:00:00

select makedate(2011,31), makedate(2011,32), makedate(2011,0), makedate(11,366), makedate(99,1), makedate(2020,366);
-- > 2011-01-31,2011-02-01,NULL,2012-01-01,1999-01-01,2020-12-31

select period_add(200801,2), period_add(8001,-1), period_diff(200802,200703), period_add(6912,1);
-- > 200803,197912,11,207001

select period_diff(200813,200703);
-- > ERROR Incorrect arguments to period_diff (errno 1210) (sqlstate HY000)

select to_seconds('2009-11-29'), to_seconds('2009-11-29 13:43:32'), to_seconds(null), to_seconds('0000-01-01');
-- > 63426672000,63426721412,NULL,86400

select session_user() = user(), system_user() = user(), benchmark(10, 1+1), benchmark(null, 1);
-- > 1,1,0,NULL

select interval(23, 1, 15, 17, 30, 44, 200), interval(10, 1, 10, 100, 1000), interval(22, 23, 30), interval(null,1,2);
-- > 3,2,0,-1

select 3 > all (select 1 union select 2), 3 > all (select 1 union select 4), 3 > any (select 1 union select 4), 1 > any (select 1 where 0), 1 > all (select 1 where 0), null > all (select 1 where 0), 3 > all (select null union select 1), 1 > all (select null union select 3), 3 = any (select 3), 3 <> all (select 2), 3 = all (select 3 union select 3), 3 <> any (select 3), 3 <> any (select 4), 3 >= some (select 3);
-- > 1,0,1,0,1,1,NULL,0,1,1,1,0,1,1

select k from t where k > all (select i from t where i is not null) order by k;
-- > 

select k from t x where d >= all (select d from t y where y.g = x.g and d is not null) order by k;
-- > 2
-- > 3
-- > 7

select @r := 5, @r + 1;
-- > 5,6

select 'abc' regexp 'B', 'abc' not regexp 'x', null regexp 'a', 'a' rlike 'A', regexp_like('a','A'), 'a' regexp binary 'A';
-- > 1,1,NULL,1,1,0

select k from t where s regexp '^[ab]' order by k;
-- > 1
-- > 2
-- > 3
-- > 4

select instr('abc','B'), locate('B','abc'), position('c' in 'ABC'), instr('foobar', 'bar'), instr(null,'x');
-- > 2,2,3,4,NULL

select count(*) from t where s regexp 'a' and e not regexp 'x';
-- > 1

select trim(leading from '  a '), 1 is unknown, null is unknown, null is not unknown;
-- > a ,0,1,0

select date_add('2020-01-01', interval 1 day), date_add('2020-01-31 10:00:00', interval '1 1' day_hour), date_add('2020-01-31', interval '1-1' year_month);
-- > 2020-01-02,2020-02-01 11:00:00,2021-02-28

select timestampadd(sql_tsi_day, 1, '2020-01-01'), timestampdiff(sql_tsi_week, '2020-01-01', '2020-02-01');
-- > 2020-01-02,4

select row(1,2) = row(1,2), row(1,2) < (1,3), (1,2) in ((1,2),(3,4));
-- > 1,1,1

select sum(x) over (order by x) from (select 1 x union all select 1 union all select 2) q;
-- > 2
-- > 2
-- > 4

select {d '2020-01-01'}, {ts '2020-01-01 10:00:00'};
-- > 2020-01-01,2020-01-01 10:00:00

select if(s in ('A'), 1, 0) from t order by k;
-- > 1
-- > 1
-- > 0
-- > 0
-- > 0
-- > 1
-- > 0
-- > 0

select k from t where concat(s,'') in ('A','b') order by k;
-- > 1
-- > 2
-- > 3
-- > 4
-- > 6

select group_concat(s separator '') from t where k<4;
-- > aAb

select group_concat(k, '-', s order by k desc) from t where k<4;
-- > 3-b,2-A,1-a

select group_concat(distinct g order by g desc), group_concat(null), group_concat(i) from t;
-- > 3,2,1,NULL,1,2,3,3,7,7,8

select s, group_concat(k order by k) from t group by s order by s;
-- > NULL,5
-- > a,1,2,6
-- > b,3,4
-- > c,7,8

select count(*), count(s), count(distinct s, g) from t;
-- > 8,7,4

select e, count(*) from t group by e having count(*) > 1 order by e;
-- > x,2
-- > y,2

select distinct g, s from t order by g, s;
-- > 1,a
-- > 2,NULL
-- > 2,b
-- > 3,á
-- > 3,c

select max(k) from t group by g having max(k) in (2, 8) order by 1;
-- > 2
-- > 8

select any_value(k) from t where k=2;
-- > 2

select stddev(i), var_pop(i), var_samp(i), std(i) from t where k in (1,2);
-- > 0.5,0.25,0.5,0.5

select g, count(*) c, rank() over (order by count(*) desc) from t group by g order by g;
-- > 1,2,3
-- > 2,3,1
-- > 3,3,1

select g, sum(sum(i)) over (order by g) from t group by g order by g;
-- > 1,3
-- > 2,9
-- > 3,31

select g gg, sum(i) s, sum(i) / sum(sum(i)) over () share from t group by gg having s > 3 order by share desc;
-- > 3,22,0.7857
-- > 2,6,0.2143

select year(dt) y, month(dt), count(*), row_number() over (partition by year(dt) order by count(*) desc, month(dt)) rn from t where dt is not null group by y, month(dt) order by y, 2;
-- > 2020,1,4,1
-- > 2020,2,3,2

select g + 1, max(d), lag(max(d)) over (order by g) from t group by 1 order by 1;
-- > ERROR Expression #3 of SELECT list is not in GROUP BY clause and contains nonaggregated column 't.g' which is not functionally dependent on columns in GROUP BY clause; this is incompatible with sql_mode=only_full_group_by

select s, count(*) n, dense_rank() over (order by count(*) desc, s) r from t group by s order by r, s;
-- > a,3,1
-- > b,2,2
-- > c,2,3
-- > NULL,1,4

select count(*) over () from t;
-- > 8
-- > 8
-- > 8
-- > 8
-- > 8
-- > 8
-- > 8
-- > 8

select count(*), sum(count(*)) over () from t;
-- > 8,8

select g from t group by g order by rank() over (order by sum(d) desc);
-- > 3
-- > 2
-- > 1

select t.g, u.e, sum(t.i), rank() over (partition by t.g order by sum(t.i) desc, u.e) from t join t u on t.k=u.k group by t.g, u.e order by t.g, u.e;
-- > 1,x,1,2
-- > 1,y,2,1
-- > 2,NULL,NULL,3
-- > 2,,3,1
-- > 2,x,3,2
-- > 3,q,8,1
-- > 3,y,7,2
-- > 3,z,7,3

with c as (select g, sum(i) x from t group by g) select g, x, sum(x) over (order by g) from c order by g;
-- > 1,3,3
-- > 2,6,9
-- > 3,22,31

select distinct rank() over (order by count(*)) from t group by g, e order by 1;
-- > 1

select g, group_concat(e order by k), row_number() over (order by g desc) from t group by g order by g;
-- > 1,x,y,3
-- > 2,x,,2
-- > 3,z,y,q,1

select case when g > 1 then 'hi' else 'lo' end c, count(*), first_value(count(*)) over (order by count(*)) from t group by c order by c;
-- > hi,6,2
-- > lo,2,2

select * from (select g, rank() over (order by sum(i) desc) r from t group by g) x where r = 1;
-- > 3,1

